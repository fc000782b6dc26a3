// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"context"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/provision"
	"github.com/seed-720a3c77/harness/provision/probe"
)

const localstackRegion = "us-east-1"

// localstack is SQS by LocalStack. No account is needed.
type localstack struct{}

func (localstack) engine() string            { return provision.SQS }
func (localstack) image() string             { return "localstack/localstack:4.9.2" }
func (localstack) published() map[string]int { return map[string]int{"client": 4566} }
func (localstack) spare() []string           { return nil }
func (localstack) files() map[string]string  { return nil }

// environment: https://docs.localstack.cloud/references/configuration/
func (localstack) environment(s site) map[string]string {
	return map[string]string{
		"SERVICES":               "sqs",
		"EAGER_SERVICE_LOADING":  "1",
		"LOCALSTACK_HOST":        s.address("client"), // in queue URLs
		"SQS_ENDPOINT_STRATEGY":  "path",              // queue URLs that need no name resolution
		"DNS_ADDRESS":            "0",
		"SKIP_SSL_CERT_DOWNLOAD": "1",
		"DISABLE_EVENTS":         "1",
	}
}

func (localstack) control() string { return "" }

func (l localstack) ready(ctx context.Context, s site) (string, error) {
	url := l.endpoint(s).Address
	version, err := probe.LocalStack(ctx, url)
	if err != nil {
		return "", err
	}
	return "localstack-" + version, probe.SQS(ctx, url)
}

func (localstack) endpoint(s site) provision.Endpoint {
	e := provision.Endpoint{
		Address: "http://" + s.address("client"),
		Settings: map[string]string{
			provision.SettingRegion:               localstackRegion,
			"SQS_ENABLE_MESSAGE_RETENTION_PERIOD": "0",
			"nodes":                               "1",
		},
		Credentials: provision.Credentials{User: "test", Password: contract.NewSecret("test")},
	}
	if version := s.version(); version != "" {
		e.Version = "localstack-" + version
	}
	return e
}
