// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// LocalStack asks for the health page below url and returns LocalStack's version.
// https://docs.localstack.cloud/references/internal-endpoints/
func LocalStack(ctx context.Context, url string) (version string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	body, err := roundTrip(ctx, http.MethodGet, strings.TrimSuffix(url, "/")+"/_localstack/health", "")
	if err != nil {
		return "", fmt.Errorf("localstack health: %w", err)
	}
	var health struct {
		Version string `json:"version"`
	}
	if err := json.Unmarshal(body, &health); err != nil {
		return "", fmt.Errorf("localstack health: %w", err)
	}
	return health.Version, nil
}

// SQS lists the queues at url. It signs nothing, so it is for LocalStack only, where it
// also loads the service, which is done on first use.
func SQS(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if _, err := roundTrip(ctx, http.MethodPost, url, "AmazonSQS.ListQueues"); err != nil {
		return fmt.Errorf("sqs list queues: %w", err)
	}
	return nil
}

func roundTrip(ctx context.Context, method, url, target string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader("{}"))
	if err != nil {
		return nil, err
	}
	if target != "" {
		request.Header.Set("X-Amz-Target", target)
		request.Header.Set("Content-Type", "application/x-amz-json-1.0")
	}
	request.Close = true
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %s", answer.Status)
	}
	return body, err
}
