// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"fmt"
	"strings"
	"time"

	"github.com/seed-720a3c77/harness/contract"
)

// tally is what all schedules of a trial did together.
type tally struct {
	schedules int
	// again are calls with an event that had been handed to the handler before.
	again int
	done  map[deed]int
	took  time.Duration
	stray int
}

func (n *tally) add(o *outcome) {
	n.schedules++
	for _, attempts := range o.facts.attempts {
		n.again += max(0, attempts-1)
	}
	for d, times := range o.facts.done {
		if n.done == nil {
			n.done = map[deed]int{}
		}
		n.done[d] += times
	}
	n.took += o.facts.took
	n.stray += o.facts.stray
}

// span is a long duration in words that can be read.
func span(d time.Duration) string {
	const day = 24 * time.Hour
	if d < 2*day {
		return brief(d.Round(time.Second))
	}
	return fmt.Sprintf("%d days %d h", d/day, d%day/time.Hour)
}

// count is how often one of these deeds was done.
func (n *tally) count(of func(deed) bool) (sum int) {
	for d, times := range n.done {
		if of(d) {
			sum += times
		}
	}
	return sum
}

// summary says what a test that passed has gone through, and what it could not reach.
func (x *trial) summary() string {
	n := &x.tally
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d schedules: %d repeated deliveries, %d crashes, %d overlaps, %d failed operations; %s of %s time",
		x.rules.short, n.schedules, n.again, n.count(deed.crashes), n.count(deed.overlaps), n.count(deed.fails), span(n.took), x.config.timeName())
	if x.shape.points == 0 {
		b.WriteString("\nnote: the handler made no operation through Env (Effects, OpenDB, HTTPClient, Operate), so it was hit only between its calls")
	}
	if x.config.pace.real {
		fmt.Fprintf(&b, "\nnote: %s", x.rules.realHolds())
	}
	if x.config.claims(contract.OrderPerKey) && !x.rules.keepsOrder() {
		fmt.Fprintf(&b, "\nnote: the order per key was not judged: %s does not keep it", x.rules.short)
	}
	if n.stray > 0 {
		fmt.Fprintf(&b, "\nnote: %d operations came without the context of the handler's call and could not be held or failed", n.stray)
	}
	return b.String()
}
