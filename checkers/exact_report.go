// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"fmt"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// LogReport is what is known of the logs of a run when all of it is looked at together.
type LogReport struct {
	Findings []LogFinding
	// Log is what stands where: by partition and offset.
	Log map[string]map[int64][]msg.ID
	// Unseen is the backlog over time: what was acked and not read by then.
	Unseen []UnseenSample
}

// UnseenSample is the backlog after one operation that went well.
type UnseenSample struct {
	AtNs int64
	// IDs by partition; a partition that had some is kept when it has none any more.
	IDs map[string][]msg.ID
}

// ExactLog looks at the logs of a run as a whole. It holds every position in memory.
func ExactLog(run *history.Run, without ...string) (LogReport, error) {
	var report LogReport
	x := &exactLog{report: &report}
	j := newJudge(&run.Header, run.Name, []Checker{x}, new(memory))
	j.c.facts.terms.Without = without
	if err := run.Each(history.AllKinds, j.Observe); err != nil {
		return report, fmt.Errorf("log of %s: %w", run.Header.Run, err)
	}
	j.Finish()
	return report, nil
}

func (a *analysis) tell(r *LogReport, all []LogFinding) {
	for _, f := range all {
		if !a.c.facts.isWithout(f.row) {
			r.Findings = append(r.Findings, f)
		}
	}
	r.Log = map[string]map[int64][]msg.ID{}
	for _, place := range a.places {
		r.Log[a.c.place(place).text] = a.logs[place].ids
	}
	r.Unseen = a.unseen()
}

// unseen follows what was sent well and not yet read by anybody that went well.
func (a *analysis) unseen() (series []UnseenSample) {
	open := map[string][]msg.ID{}
	read := map[msg.ID]bool{}
	for _, op := range a.ops {
		if op.class != contract.OK || op.reset || op.audit {
			continue
		}
		for _, r := range op.reads {
			read[r.id] = true
		}
		for _, s := range op.sends {
			place := a.c.place(s.place).text
			open[place] = append(open[place], s.id)
		}
		now := UnseenSample{AtNs: op.end, IDs: map[string][]msg.ID{}}
		for place, ids := range open {
			var left []msg.ID
			for _, id := range ids {
				if !read[id] {
					left = append(left, id)
				}
			}
			open[place], now.IDs[place] = left, left
		}
		series = append(series, now)
	}
	return series
}
