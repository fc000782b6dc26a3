// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

// produce publishes every event, and the copies of the plan.
func (s *scene) produce(ctx context.Context) {
	p, err := s.engine.Producer(ctx, broker.ProducerSpec{Name: "producer"})
	if err != nil {
		s.fail("publish", err)
		return
	}
	for n := range s.plan.events {
		s.publish(ctx, p, n, 1)
		_ = s.clock.Sleep(ctx, s.rules.pace.gap)
	}
	for _, a := range s.copiesByTime() {
		_ = s.clock.Sleep(ctx, a.wait-s.clock.Now())
		s.came(copyOnce)
		s.fault("producer", a.event, 0, "the producer got no answer and sends %s again", s.id(a.event))
		s.publish(ctx, p, a.event, 2)
	}
}

func (s *scene) copiesByTime() []act {
	var copies []act
	for _, a := range s.plan.acts {
		if a.do == copyOnce {
			copies = append(copies, a)
		}
	}
	slices.SortFunc(copies, func(a, b act) int { return cmp.Compare(a.wait, b.wait) })
	return copies
}

func (s *scene) publish(ctx context.Context, p broker.Producer, n int, attempt uint16) {
	e := s.config.made[n]
	m := &msg.Message{
		To: queue, ID: msg.ID{Seq: uint64(n)}, Attempt: attempt, Key: e.Key, Partition: msg.AnyPartition, Body: e.Body,
	}
	if s.rules.Can.Has(contract.Deduplication) {
		m.Dedup = fmt.Sprintf("%s/%d", e.ID, attempt)
	}
	err := p.Publish(ctx, m, func(_ broker.Receipt, err error) {
		if err != nil {
			s.fail("publish", err)
		}
		s.mu.Lock()
		s.coming--
		s.mu.Unlock()
		s.changed.Wake()
	})
	if err != nil {
		s.fail("publish", err)
	}
}
