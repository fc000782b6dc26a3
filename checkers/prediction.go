// SPDX-License-Identifier: Apache-2.0

package checkers

// repeatsForFinding: a finding needs a count outside the prediction in so many repeats in a row: once is noise.
const repeatsForFinding = 3

// Prediction is what the model of a broker says of a run on that broker, beside what was
// measured: the same workload under many seeds, with the load and the fault times of the run.
type Prediction struct {
	// Model is the profile that answered. It ran seeds from First on; Seeds is in how many of
	// them every fault of the run came, and Histories how many of these differ.
	Model     string `json:"model"`
	First     uint64 `json:"first_seed"`
	Seeds     int    `json:"seeds"`
	Histories int    `json:"histories"`
	// Conditions say in words what was taken from the run, and the jitters.
	Conditions []string `json:"conditions,omitempty"`
	// Missing says why there is none; everything else is empty then.
	Missing string `json:"missing,omitempty"`
	// Repeats is how many runs in a row were compared, this one included.
	Repeats int `json:"repeats"`
	// Counts are those that were not 0 everywhere; Zero is how many were.
	Counts []Predicted `json:"counts,omitempty"`
	Zero   int         `json:"zero"`
}

// Predicted is one count, or a time in milliseconds where the name ends in "_ms".
type Predicted struct {
	Name     string `json:"name"`
	Measured int64  `json:"measured"`
	Min      int64  `json:"min"`
	P5       int64  `json:"p5"`
	Median   int64  `json:"median"`
	P95      int64  `json:"p95"`
	Max      int64  `json:"max"`
	// Slack is how far outside a time may be: what the broker may be late by its contract.
	Slack int64 `json:"slack,omitempty"`
	// OutsideIn is in how many repeats in a row, this one included, it was measured outside
	// of what any seed gave.
	OutsideIn int `json:"outside_in"`
}

// Outside tells whether it was measured outside of what any seed gave.
func (p *Predicted) Outside() bool {
	return p.Measured < p.Min-p.Slack || p.Measured > p.Max+p.Slack
}

// Finding tells whether model, client or broker is wrong: it was outside in three repeats in
// a row, or more.
func (p *Predicted) Finding() bool { return p.OutsideIn >= repeatsForFinding }

// Measure puts what a run measured beside the ranges.
func (p *Prediction) Measure(counts map[string]int64) {
	for i := range p.Counts {
		c := &p.Counts[i]
		c.Measured = counts[c.Name]
		if c.Outside() {
			c.OutsideIn = max(c.OutsideIn, 1)
		} else {
			c.OutsideIn = 0
		}
	}
}

// After says that an earlier repeat of the same run was compared too.
func (p *Prediction) After(earlier *Prediction) {
	if earlier.Missing != "" {
		return
	}
	p.Repeats += earlier.Repeats
	for i := range p.Counts {
		c := &p.Counts[i]
		for _, before := range earlier.Counts {
			if before.Name == c.Name && c.Outside() {
				c.OutsideIn += before.OutsideIn
			}
		}
	}
}

// Outside are the counts outside of the prediction, the findings first.
func (p *Prediction) Outside() (findings, notes []Predicted) {
	for _, c := range p.Counts {
		switch {
		case c.Finding():
			findings = append(findings, c)
		case c.Outside():
			notes = append(notes, c)
		}
	}
	return findings, notes
}
