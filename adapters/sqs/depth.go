// SPDX-License-Identifier: Apache-2.0

package sqs

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/seed-720a3c77/harness/broker"
)

// Depth is what the service counts; on SQS itself the counts are approximate and lag by
// up to a minute, on LocalStack they are exact.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-monitoring-using-cloudwatch.html
func (e *engine) Depth(ctx context.Context, destination, _ string) (broker.Depth, error) {
	start := time.Now()
	url, err := e.url(ctx, destination)
	if err != nil {
		return broker.Depth{}, err
	}
	out, err := e.link.sqs.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: url, AttributeNames: []types.QueueAttributeName{
		types.QueueAttributeNameApproximateNumberOfMessages,
		types.QueueAttributeNameApproximateNumberOfMessagesNotVisible,
		types.QueueAttributeNameApproximateNumberOfMessagesDelayed,
	}})
	if err != nil {
		return broker.Depth{}, fmt.Errorf("sqs: depth of %s: %w", destination, explain(err))
	}
	return broker.Depth{
		Ready:    count(out.Attributes, types.QueueAttributeNameApproximateNumberOfMessages),
		InFlight: count(out.Attributes, types.QueueAttributeNameApproximateNumberOfMessagesNotVisible),
		Delayed:  count(out.Attributes, types.QueueAttributeNameApproximateNumberOfMessagesDelayed),
		Start:    broker.Unmeasured, End: broker.Unmeasured, Stable: broker.Unmeasured, Committed: broker.Unmeasured,
		Took: time.Since(start),
	}, nil
}

func count(attributes map[string]string, name types.QueueAttributeName) int64 {
	n, err := strconv.ParseInt(attributes[string(name)], 10, 64)
	if err != nil {
		return broker.Unmeasured
	}
	return n
}
