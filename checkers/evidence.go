// SPDX-License-Identifier: Apache-2.0

package checkers

import "github.com/seed-720a3c77/harness/msg"

// maxEvidence is how many events of a message are evidence of a finding about all of it.
const maxEvidence = 8

// evidence is the first events about some messages: those of findings that were made at
// the end, when no event was at hand.
type evidence map[msg.ID][]int64

// wanted lists the messages whose findings have no evidence yet.
func wanted(result *Result) evidence {
	e := evidence{}
	for i := range result.Anomalies {
		for k := range result.Anomalies[i].Examples {
			if x := &result.Anomalies[i].Examples[k]; len(x.Events) == 0 && x.Subscription != "" {
				e[x.ID] = nil
			}
		}
	}
	return e
}

func (e evidence) note(m *Moment) {
	if len(e) == 0 || !m.known && !tells(m.Kind) {
		return
	}
	if seen, is := e[m.id]; is && len(seen) < maxEvidence {
		e[m.id] = append(seen, m.Index)
	}
}

// give puts the evidence where it was wanted.
func (e evidence) give(result *Result) {
	for i := range result.Anomalies {
		for k := range result.Anomalies[i].Examples {
			if x := &result.Anomalies[i].Examples[k]; len(x.Events) == 0 {
				x.Events = e[x.ID]
			}
		}
	}
}
