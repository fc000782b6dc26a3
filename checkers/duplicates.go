// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

// duplicates tells the extra deliveries apart: second stored copies and redeliveries, by
// what caused each. A redelivery is no duplicate effect.
type duplicates struct {
	c       *Case
	first   []int64 // by subscription
	total   []int64
	copies  [][causes]int64
	again   [][causes]int64
	started []int64
}

func (d *duplicates) Kinds() history.KindSet {
	return history.Only(history.Delivery, history.HandlerStart)
}

func (d *duplicates) Begin(c *Case) {
	d.c = c
	n := len(c.subs)
	d.first, d.total, d.started = make([]int64, n), make([]int64, n), make([]int64, n)
	d.copies, d.again = make([][causes]int64, n), make([][causes]int64, n)
	if c.seesWork() {
		c.facts.measure(redelivered, storedTwice, duplicateUnexplained, duplicateAfterAck)
	}
	if c.profile.Can.Has(contract.Deduplication) {
		c.facts.measure(dedupViolation)
	}
}

func (d *duplicates) Observe(m *Moment) {
	if !m.known || m.place.role == deadLetter {
		return
	}
	sub := m.sub.index
	if m.Kind == history.HandlerStart {
		if m.hold != nil && !m.hold.is(handling) && !m.hold.is(handled) {
			d.started[sub]++
		}
		return
	}
	d.total[sub]++
	d.c.facts.exposure.delivered++
	switch {
	case !m.extra:
		d.first[sub]++
	case m.copy:
		d.copies[sub][m.cause]++
		d.copy(m)
	default:
		d.again[sub][m.cause]++
		d.redelivery(m)
	}
}

func (d *duplicates) copy(m *Moment) {
	if m.cause != retryDestination {
		if x := d.c.facts.found(storedTwice, m); x != nil {
			x.Text = "another stored copy of the id was delivered"
		}
	}
	if m.cause == unexplained {
		d.unexplained(m)
	}
}

func (d *duplicates) redelivery(m *Moment) {
	if x := d.c.facts.found(redelivered, m); x != nil {
		x.Text = "delivered again to " + m.session.worker
	}
	if m.cause == unexplained || m.cause == contractAllowed {
		d.unexplained(m)
	}
}

// unexplained names what makes a delivery without a cause a finding.
func (d *duplicates) unexplained(m *Moment) {
	r, text := duplicateUnexplained, "nothing recorded before it explains it"
	switch {
	case m.copy && d.c.swallows(m.message):
		r, text = dedupViolation, "every send of it fell into one deduplication window"
	case m.copy:
	case m.premature:
		r, text = prematureRedelivery, "an earlier lease still had time left"
	case m.message.is(settled):
		r, text = duplicateAfterAck, "its ack had been answered with success"
	}
	if x := d.c.facts.found(r, m); x != nil {
		x.Text = text
	}
}

// swallows tells whether deduplication had to leave one copy of a message.
func (c *Case) swallows(known *message) bool {
	return c.profile.Can.Has(contract.Deduplication) && known.attempts > 1
}

func (d *duplicates) Finish(f *Facts) {
	for i, sub := range d.c.subs {
		if sub.Opaque {
			continue
		}
		lines := []Line{{"First deliveries", d.first[i], "good"}}
		for cause := range causes {
			kind := "allowed"
			if cause == unexplained {
				kind = "bad"
			}
			lines = lineOf(lines, "Redelivered, ", cause, d.again[i][cause], kind)
			lines = lineOf(lines, "Second stored copies, ", cause, d.copies[i][cause], kind)
		}
		f.result.Ledger = append(f.result.Ledger,
			balance("Deliveries", sub.Name, "Deliveries", d.total[i], lines...),
			balance("Handler runs", sub.Name, "Deliveries", d.total[i],
				Line{"Handler started", d.started[i], "good"},
				Line{"Handler never started", d.total[i] - d.started[i], "allowed"}))
		f.counts["deliveries"] += d.total[i]
		f.counts["handlers-never-started"] += d.total[i] - d.started[i]
	}
	f.counts["unexplained"] = f.unexplained()
}

// unexplained is how many extra deliveries the contract forbids and nothing explains.
func (f *Facts) unexplained() (n int64) {
	for _, r := range []row{duplicateUnexplained, duplicateAfterAck, prematureRedelivery} {
		if table[r].Kind(f.c.header) == KindError {
			n += f.count(r)
		}
	}
	return n
}
