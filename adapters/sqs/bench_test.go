// SPDX-License-Identifier: Apache-2.0

package sqs

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/msg"
)

// BenchmarkPublish is the adapter's way of a message in batches of ten, without a
// service; BenchmarkBareClient is the same batches without the adapter. Their difference
// is what the adapter costs.
func BenchmarkPublish(b *testing.B) {
	e := openStub(b, &stub{answers: answers{"SendMessageBatch": canned}}, Config{Queue: FIFO})
	p, err := e.Producer(b.Context(), broker.ProducerSpec{Linger: time.Second})
	if err != nil {
		b.Fatal(err)
	}
	body := make1KB()
	done := func(_ broker.Receipt, err error) {
		if err != nil {
			b.Error(err)
		}
	}
	b.ReportAllocs()
	for i := range b.N {
		m := msg.Message{To: "q", ID: msg.ID{Seq: uint64(i)}, Attempt: 1, Key: "k", Body: body}
		if err := p.Publish(b.Context(), &m, done); err != nil {
			b.Fatal(err)
		}
	}
	if err := p.Close(context.Background()); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkBareClient(b *testing.B) {
	e := openStub(b, &stub{answers: answers{"SendMessageBatch": canned}}, Config{Queue: FIFO})
	body := string(make1KB())
	b.ReportAllocs()
	for i := 0; i < b.N; i += maxBatch {
		in := &sqs.SendMessageBatchInput{QueueUrl: aws.String("http://queue.test/1/q")}
		for j := range min(maxBatch, b.N-i) {
			in.Entries = append(in.Entries, types.SendMessageBatchRequestEntry{
				Id: aws.String(strconv.Itoa(j)), MessageBody: &body, MessageGroupId: aws.String("k"),
				MessageDeduplicationId: aws.String(strconv.Itoa(i + j)),
				MessageAttributes:      map[string]types.MessageAttributeValue{msg.HeaderName: text("1;9f3c21aa;p0/17;1;123456789;c1a2b3c4")},
			})
		}
		if _, err := e.link.sqs.SendMessageBatch(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
}
