// SPDX-License-Identifier: Apache-2.0

package sqs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/contract/profiles"
)

const (
	// openTimeout bounds each of the two questions of Open.
	openTimeout = 10 * time.Second
	// healthPath is where LocalStack tells its version.
	// https://docs.localstack.cloud/references/internal-endpoints/
	healthPath = "/_localstack/health"
	// probeQueue is a name that no run makes, to see that requests are answered.
	probeQueue = "harness-probe-no-such-queue"
)

// Open asks the endpoint who it is and whether it takes the credentials. The error is
// broker.ErrUnreachable or broker.ErrDenied, with the address and what was tried.
func Open(ctx context.Context, c Config) (broker.Engine, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	e := &engine{config: c, link: newLink(c, 0, openTimeout)}
	version, err := e.localstack(ctx)
	if err == nil {
		err = e.answers(ctx)
	}
	if err != nil {
		e.link.close()
		return nil, fmt.Errorf("sqs at %s: %w", c.Endpoint, err)
	}
	e.link.timeout = c.Timeout
	var exact bool
	if e.profile, exact, err = profileOf(version, c.Queue); err != nil {
		return nil, err
	}
	e.settings = settings(c, version, e.profile, exact)
	return e, nil
}

// localstack is the version of LocalStack, or "" of a service that is none.
func (e *engine) localstack(ctx context.Context) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(e.config.Endpoint, "/")+healthPath, nil)
	if err != nil {
		return "", err
	}
	answer, err := e.link.Do(r)
	if err != nil {
		return "", fmt.Errorf("%w: GET %s: %w", broker.ErrUnreachable, healthPath, err)
	}
	defer answer.Body.Close()
	var health struct{ Version string }
	if answer.StatusCode != http.StatusOK || json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&health) != nil {
		return "", nil
	}
	return health.Version, nil
}

// answers wants the one right answer to a question about a queue that does not exist.
func (e *engine) answers(ctx context.Context) error {
	_, err := e.link.sqs.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String(probeQueue)})
	switch err = explain(err); {
	case err == nil, errors.Is(err, broker.ErrNotFound):
		return nil
	case errors.Is(err, broker.ErrDenied):
		return fmt.Errorf("GetQueueUrl: %w", err)
	}
	return fmt.Errorf("%w: GetQueueUrl: %w", broker.ErrUnreachable, err)
}

func profileOf(version, queue string) (p contract.Profile, exact bool, err error) {
	if version == "" {
		p, err = profiles.Named("sqs-" + queue)
		return p, true, err
	}
	p, err = profiles.Named("localstack-" + queue)
	return p, strings.HasPrefix("localstack-"+version+".", p.Version+"."), err
}

// settings are what is in effect, by the names of service and client. Credentials are not among them.
func settings(c Config, version string, p contract.Profile, exact bool) map[string]string {
	all := map[string]string{
		"endpoint":                  c.Endpoint,
		"region":                    c.Region,
		"client":                    "aws-sdk-go-v2/service/sqs " + clientVersion(),
		"queue":                     c.Queue,
		"server.version":            "aws",
		"RetryMaxAttempts":          "1 unless a producer asks for retries",
		"attempt-timeout":           c.Timeout.String(),
		"MaxIdleConnsPerHost":       "256, for each producer and consumer",
		"IdleConnTimeout":           "20s",
		"send":                      "SendMessageBatch",
		"batch-max":                 strconv.Itoa(p.BatchMax),
		"producer-in-flight":        strconv.Itoa(defaultInFlight),
		"WaitTimeSeconds":           "the wait, rounded up to whole seconds",
		"message-checksum":          "checked by the client",
		"ContentBasedDeduplication": "false",
	}
	if version != "" {
		all["server.version"] = "localstack " + version
	}
	if !exact {
		all["profile-note"] = fmt.Sprintf("no profile for LocalStack %s: the nearest is %s", version, p.Name)
	}
	return all
}

// clientVersion is the version of the SDK's module that was built in; the SDK itself does
// not tell it.
func clientVersion() string {
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return ""
	}
	for _, module := range info.Deps {
		if module.Path == "github.com/aws/aws-sdk-go-v2/service/sqs" {
			return module.Version
		}
	}
	return ""
}

// Profile is constant for the life of the engine.
func (e *engine) Profile() contract.Profile { return e.profile }

// Settings are a copy.
func (e *engine) Settings() map[string]string { return maps.Clone(e.settings) }
