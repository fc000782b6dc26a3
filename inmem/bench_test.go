// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"testing"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/msg"
)

// BenchmarkMachine is one publish, delivery and settlement, in batches of ten.
func BenchmarkMachine(b *testing.B) {
	for _, profile := range []string{"kafka", "sqs", "sqs-fifo", "rabbitmq", "rabbitmq-classic"} {
		b.Run(profile, func(b *testing.B) {
			s := newScript(b, profile, Options{}, broker.Destination{Name: "q"})
			consumer := s.session("A")
			s.until(1e9)
			into, settlements, results := make([]broker.Delivery, 10), make([]broker.Settlement, 10), make([]error, 10)
			m := &msg.Message{To: "q", Partition: msg.AnyPartition, Key: "k", Body: make([]byte, 200)}
			verb := broker.Ack
			if profile == "kafka" {
				verb = broker.Commit
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				m.ID.Seq = uint64(i)
				if _, err := s.m.Publish(s.now, s.producer, uint64(i), m); err != nil {
					b.Fatal(err)
				}
				if i%10 != 9 {
					continue
				}
				n, err := s.m.Receive(s.now, consumer, 0, into)
				if n != 10 || err != nil {
					b.Fatal(n, err)
				}
				for j := range into {
					settlements[j] = broker.Settlement{Verb: verb, Token: into[j].Token}
				}
				s.m.Settle(s.now, consumer, settlements, results)
				s.m.Drain(nil)
			}
		})
	}
}
