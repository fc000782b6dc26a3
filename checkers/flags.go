// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"fmt"

	"github.com/seed-720a3c77/harness/history"
)

// flagChecks holds the redelivered flag and the delivery count to their word, where the
// profile says that they are evidence. A count may jump, because a delivery that no
// client saw counts too, but it must grow.
type flagChecks struct{ c *Case }

func (k *flagChecks) Kinds() history.KindSet { return history.Only(history.Delivery) }

func (k *flagChecks) Begin(c *Case) {
	k.c = c
	if c.profile.FlagTrusted {
		c.facts.measure(unflaggedRedelivery)
	}
	if c.profile.CountTrusted {
		c.facts.measure(wrongCount)
	}
}

func (k *flagChecks) Observe(m *Moment) {
	if !m.extra || m.copy || m.place.role != source {
		return
	}
	if k.c.profile.FlagTrusted && !m.Has(history.Redelivered) {
		if x := k.c.facts.found(unflaggedRedelivery, m); x != nil {
			x.Text = "delivered before, and the flag is not set"
		}
	}
	if k.c.profile.CountTrusted && m.N > 0 && m.N <= uint32(m.message.count) {
		if x := k.c.facts.found(wrongCount, m); x != nil {
			x.Text = fmt.Sprintf("count %d after %d", m.N, m.message.count)
		}
	}
}

func (k *flagChecks) Finish(*Facts) {}
