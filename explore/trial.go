// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/workloads"
)

// Trial is one seed's outcome.
type Trial struct {
	Seed   uint64           `json:"seed"`
	Counts map[string]int64 `json:"counts"`
	// Broken names the claims and expectations that were violated and not foreseen.
	Broken  []string         `json:"broken,omitempty"`
	Verdict contract.Verdict `json:"verdict"`
	// Hit names the fault points that came, Seen the moments that were seen.
	Hit  []string `json:"hit,omitempty"`
	Seen []string `json:"seen,omitempty"`
	// Print tells its history from others.
	Print uint64 `json:"print,omitempty"`
}

// play runs a workload on the space's profile and judges it.
func (s *Space) play(spec *workloads.Spec, seed uint64) (checkers.Result, *history.Run, error) {
	l := lab{space: s}
	return l.play(spec, seed)
}

func outcome(seed uint64, spec *workloads.Spec, r checkers.Result) Trial {
	t := Trial{Seed: seed, Counts: outcomesIn(r.Counts, &r), Verdict: r.Verdict}
	for _, c := range r.Expectations {
		if c.Verdict == contract.Violated {
			t.Broken = append(t.Broken, c.Name)
		}
	}
	if r.Verdict == contract.Violated && !r.AsExpected {
		for _, c := range r.Claims {
			if c.Verdict == contract.Violated {
				t.Broken = append(t.Broken, c.Name)
			}
		}
	}
	for i, f := range r.Faults {
		if f.ActiveNs >= 0 {
			t.Hit = append(t.Hit, place(spec, i))
		}
	}
	return t
}

// place names a fault and the point at which it fell.
func place(spec *workloads.Spec, fault int) string {
	for _, step := range spec.Timeline {
		if step.Trigger.Following {
			continue
		}
		if fault == 0 {
			if step.Trigger.Point == "" {
				return fmt.Sprintf("%s at %s", step.Do, step.Trigger.At)
			}
			return fmt.Sprintf("%s at %s %d", step.Do, step.Trigger.Point, step.Trigger.N)
		}
		fault--
	}
	return "fault"
}
