// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"slices"
	"time"

	"github.com/seed-720a3c77/harness/broker"
)

// injected is a delivery that the broker makes by itself, as SQS standard queues may.
type injected struct {
	delivery broker.Delivery
	not      string // the worker that has it already
	at       time.Duration
}

// givesCopies tells whether the broker may give a message twice by itself.
func (s *scene) givesCopies() bool { return s.rules.SpontaneousCopies || s.plan.copies }

// inject makes a delivery that the broker gives by itself, at an instant, to another worker.
func (s *scene) inject(d broker.Delivery, not string, at time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.copies = append(s.copies, injected{d, not, at})
}

// take is the copy that is due for a worker.
func (s *scene) take(worker string) (broker.Delivery, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, c := range s.copies {
		if c.not != worker && c.at <= s.trace.now() {
			s.copies = slices.Delete(s.copies, i, i+1)
			return c.delivery, true
		}
	}
	return broker.Delivery{}, false
}
