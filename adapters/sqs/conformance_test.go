// SPDX-License-Identifier: Apache-2.0

package sqs

import (
	"context"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/seed-720a3c77/harness/broker/brokertest"
	"github.com/seed-720a3c77/harness/internal/testenv"
	"github.com/seed-720a3c77/harness/msg"
)

func TestConformance(t *testing.T) {
	testenv.Need(t, "sqs")
	for _, queue := range []string{Standard, FIFO} {
		t.Run(queue, func(t *testing.T) {
			t.Parallel()
			brokertest.Run(t, func(t *testing.T) *brokertest.Bench {
				t.Parallel() // the cases wait for leases most of the time
				e := open(t, Config{Queue: queue})
				return &brokertest.Bench{Engine: e, Raw: raw(e)}
			})
		})
	}
}

// raw sends around the port.
func raw(e *engine) func(context.Context, string, map[string]string, []byte) error {
	return func(ctx context.Context, to string, headers map[string]string, body []byte) error {
		url, err := e.url(ctx, to)
		if err != nil {
			return err
		}
		in := &sqs.SendMessageInput{QueueUrl: url, MessageBody: aws.String(string(body)), MessageAttributes: map[string]types.MessageAttributeValue{}}
		for name, value := range headers {
			in.MessageAttributes[name] = text(value)
		}
		if e.fifo() {
			in.MessageGroupId, in.MessageDeduplicationId = aws.String("raw"), aws.String(fmt.Sprint("raw-", msg.Checksum([]byte(headers[msg.HeaderName]))))
		}
		_, err = e.link.sqs.SendMessage(ctx, in)
		return err
	}
}

// open opens an engine on the test's broker; the test's end closes it.
func open(t *testing.T, c Config) *engine {
	t.Helper()
	c.Endpoint = testenv.Broker(t, "sqs")
	opened, err := Open(t.Context(), c)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() { opened.Close(context.Background()) })
	return opened.(*engine)
}
