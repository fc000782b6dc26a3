// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"cmp"
	"maps"
	"slices"

	"github.com/seed-720a3c77/harness/msg"
)

// maxExamples is how many findings of a row keep their evidence.
const maxExamples = 32

// Facts are what was counted, whatever is claimed. A row that nothing looked for is not
// measured, and has no count.
type Facts struct {
	c        *Case
	tally    [rows]tally
	counts   map[string]int64
	byCause  [rows][causes]int64
	byFault  [][rows]int64
	exposure exposure
	terms    Terms
	result   *Result // filled by Finish of the checkers
}

type tally struct {
	measured bool
	count    int64
	examples []Example
}

// exposure is what the run did that could have broken a claim.
type exposure struct {
	delivered, effects, handlers int64
	orderedPairs                 [rows]int64
}

// newFacts are those of a case, in the memory of the one before.
func newFacts(c *Case) *Facts {
	f := &c.memory.facts
	counts := f.counts
	if counts == nil {
		counts = map[string]int64{}
	}
	clear(counts)
	*f = Facts{c: c, counts: counts}
	return f
}

// measure says that rows are looked for in this run, so that 0 means none.
func (f *Facts) measure(all ...row) {
	for _, r := range all {
		f.tally[r].measured = true
	}
}

// found counts a finding about the message of a moment. It returns the example to be
// filled with words, nil once there are enough of them.
func (f *Facts) found(r row, m *Moment) *Example {
	start := m.message.sent
	if m.hold != nil {
		start = m.hold.due
	}
	f.byCause[r][m.cause]++
	x := f.add(r, start, m.T)
	if x == nil {
		return nil
	}
	x.ID, x.AtNs, x.Cause = m.id, m.T, m.cause.String()
	x.Events = []int64{m.Index}
	if m.known {
		x.Subscription = m.sub.Name
	}
	return x
}

// concluded counts a finding made at the end, about a message whose life was [sent, last].
func (f *Facts) concluded(r row, sub *subscription, id msg.ID, known *message) *Example {
	x := f.add(r, known.sent, known.last)
	if x == nil {
		return nil
	}
	x.ID, x.AtNs, x.Subscription = id, known.last, sub.Name
	return x
}

// put counts a finding whose evidence is at hand.
func (f *Facts) put(r row, since int64, evidence Example) {
	if x := f.add(r, since, evidence.AtNs); x != nil {
		evidence.Fault = x.Fault
		*x = evidence
	}
}

// isWithout tells whether a row was taken away.
func (f *Facts) isWithout(r row) bool { return f.isTaken(table[r].Name) }

// isTaken tells whether a rule was taken away.
func (f *Facts) isTaken(name string) bool { return slices.Contains(f.terms.Without, name) }

func (f *Facts) add(r row, start, end int64) *Example {
	if f.isWithout(r) {
		return nil
	}
	t := &f.tally[r]
	t.measured = true
	t.count++
	window := f.c.faults.of(start, end)
	if window >= 0 {
		for len(f.byFault) <= window {
			f.byFault = append(f.byFault, [rows]int64{})
		}
		f.byFault[window][r]++
	}
	if len(t.examples) >= cmp.Or(f.terms.Examples, maxExamples) {
		return nil
	}
	t.examples = append(t.examples, Example{})
	x := &t.examples[len(t.examples)-1]
	if window >= 0 {
		x.Fault = f.c.faults.label(window)
	}
	return x
}

func (f *Facts) count(r row) int64 { return f.tally[r].count }

// shade is how a line of the ledger is shown: bad where the contract forbids it.
func (f *Facts) shade(r row) string {
	if table[r].Kind(f.c.header) == KindError {
		return "bad"
	}
	return "allowed"
}

// lost is the count over all classes of loss.
func (f *Facts) lost() (n int64) {
	for _, r := range losses {
		n += f.count(r)
	}
	return n
}

// inFault is a row's count in one fault window.
func (f *Facts) inFault(window int, all ...row) (n int64) {
	if window < len(f.byFault) {
		for _, r := range all {
			n += f.byFault[window][r]
		}
	}
	return n
}

// rowsByCause are those of which each cause is a count of its own.
var rowsByCause = [...]row{redelivered, effectDuplicate}

// all is every count by its fixed name.
func (f *Facts) all() map[string]int64 {
	counts := make(map[string]int64, len(f.counts)+int(rows))
	maps.Copy(counts, f.counts)
	for r := range rows {
		if f.tally[r].measured {
			counts[table[r].Name] = f.count(r)
		}
	}
	for _, r := range rowsByCause {
		for cause := noCause + 1; cause < causes; cause++ {
			if n := f.byCause[r][cause]; n > 0 {
				counts[table[r].Name+"."+cause.slug()] = n
			}
		}
	}
	counts["lost"] = f.lost()
	return counts
}

// anomalies lists what was found, the worst first.
func (f *Facts) anomalies() []Anomaly {
	var all []Anomaly
	for severity := 1; severity <= 4; severity++ {
		for r := range rows {
			t := &f.tally[r]
			if t.count == 0 || table[r].Severity != severity {
				continue
			}
			all = append(all, Anomaly{
				Name: table[r].Name, Kind: table[r].Kind(f.c.header), Doc: table[r].Doc,
				Severity: severity, Count: t.count, Examples: t.examples,
			})
		}
	}
	return all
}

// ids lists the distinct ids of the rows' examples.
func (f *Facts) ids(all ...row) (ids []msg.ID) {
	seen := map[msg.ID]bool{}
	for _, r := range all {
		for _, x := range f.tally[r].examples {
			if !seen[x.ID] {
				seen[x.ID] = true
				ids = append(ids, x.ID)
			}
		}
	}
	return ids
}
