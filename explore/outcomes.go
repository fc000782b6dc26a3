// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"maps"
	"strings"

	"github.com/seed-720a3c77/harness/checkers"
)

// The times of a run's faults among its counts, in milliseconds, each the worst of all its
// faults: how long nothing was handled, and how long until rate and lag were back.
const (
	silenceMs   = "silence.max_ms"
	recoveryMs  = "recovery.max_ms"
	unrecovered = "unrecovered"
)

// generations counts the changes of ownership.
const generations = "generations"

// joined counts the changes of ownership before the load: how a group comes together is a
// matter of who asks first, and some clients never see its first generation.
func joined(r *checkers.Result) (n int64) {
	for _, p := range r.Phases {
		if p.Name != "load" {
			continue
		}
		for i := range r.Generations {
			if r.Generations[i].AtNs <= p.StartNs {
				n++
			}
		}
	}
	return n
}

// Outcomes are the counts of a run, from its load on, and the times of its faults, which are
// absent where there was none. What no model can tell apart counts together.
func Outcomes(r *checkers.Result) map[string]int64 {
	all := outcomesIn(maps.Clone(r.Counts), r)
	together(all, r.Profile.Model)
	return all
}

// outcomesIn is Outcomes in a map that holds the counts.
func outcomesIn(all map[string]int64, r *checkers.Result) map[string]int64 {
	if all == nil {
		all = map[string]int64{}
	}
	if n := joined(r); n > 0 {
		all[generations] -= n
	}
	for i := range r.Faults {
		f := &r.Faults[i]
		if f.ActiveNs < 0 {
			continue
		}
		raise(all, silenceMs, f.SilenceNs)
		if f.RecoveredNs < 0 {
			all[unrecovered]++
			continue
		}
		raise(all, recoveryMs, f.RecoveredNs-f.ActiveNs)
	}
	return all
}

// isTime tells times from counts.
func isTime(name string) bool { return strings.HasSuffix(name, "_ms") }

func raise(all map[string]int64, name string, ns int64) {
	if ns >= 0 {
		all[name] = max(all[name], ns/1_000_000)
	}
}
