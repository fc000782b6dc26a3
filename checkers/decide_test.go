// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

// lacking are runs that cannot tell, each for another reason.
func lacking() map[string]*tale {
	planned := func() *tale {
		t := tell(fifo).publish("p0/0")
		t.header.Faults = []history.Fault{{Name: "kill", Target: "billing/0"}}
		return t
	}
	return map[string]*tale{
		"nothing happened":        tell(fifo).drained(),
		"nobody read it":          tell(fifo).publish("p0/0"),
		"no drain":                tell(fifo).publish(ids(0, 1)...).work("w0", "p0/0"),
		"the drain did not end":   tell(fifo).publish(ids(0, 1)...).work("w0", "p0/0").undrained("limit"),
		"no fault was active":     planned().work("w0", "p0/0").drained(),
		"nothing was in flight":   planned().work("w0", "p0/0").fault(history.FaultActive, 1).fault(history.FaultHealed, 1).drained(),
		"all is unknown":          tell(fifo).send("p0/0").answer("p0/0", contract.Unknown).drained(),
		"events were not written": tell(fifo).publish("p0/0").work("w0", "p0/0").dropped().drained(),
		"none of a kind":          tell(fifo).publish("p0/0").work("w0", "p0/0").drained(),
	}
}

// dropped notes that the recorder lost events.
func (t *tale) dropped() *tale {
	t.add(history.Event{Kind: history.Dropped, N: 3})
	return t
}

// TestInconclusiveSaysWhyAndWhatWouldDecide: one sentence, and a command.
func TestInconclusiveSaysWhyAndWhatWouldDecide(t *testing.T) {
	open := map[string]int{}
	for name, told := range lacking() {
		told.claims(append(contract.Claims(), "no-such-claim")...)
		told.header.Thresholds = []contract.Threshold{
			{Metric: "redelivered", Op: "<=", Limit: 9, Text: "redelivered at most 9"}, {Metric: "latency.nothing.p50", Op: "<", Limit: 1, Text: "latency"}}
		told.header.Expectations = []contract.Expectation{{Metric: "no-such-count"}, {Metric: "verdict.no-claim", Verdict: contract.Pass}}
		r := told.check()
		for _, c := range append(r.Claims, r.Expectations...) {
			if c.Verdict != contract.Inconclusive {
				continue
			}
			open[c.Name]++
			if !strings.HasSuffix(c.Sentence, ".") || strings.Contains(strings.TrimSuffix(c.Sentence, "."), ". ") || !strings.Contains(c.Decide, "harness ") {
				t.Errorf("%s: %s: says %q, decided by %q", name, c.Name, c.Sentence, c.Decide)
			}
		}
		for _, m := range r.Missing {
			if m.Check == "" || m.Found == "" || m.Needed == "" || !strings.Contains(m.Decide, "harness ") {
				t.Errorf("%s: missing %+v", name, m)
			}
		}
	}
	for _, claim := range contract.Claims() {
		if open[string(claim)] == 0 && claim != contract.OrderPerPartition {
			t.Errorf("no run leaves %s open", claim)
		}
	}
}
