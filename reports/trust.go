// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"fmt"
	"strconv"

	"github.com/seed-720a3c77/harness/checkers"
)

// trustRow is one thing that the numbers rest on. State is "holds", "fails", or none of
// both where it is only told.
type trustRow struct {
	State          state
	Word           string
	What, Measured string
	Needed         string
}

func newTrust(r *checkers.Result) []trustRow {
	t := &r.Trust
	rows := []trustRow{
		check(t.PlannedMsgs == 0 || t.OfferedMsgs >= t.PlannedMsgs, "Load was offered",
			Thousands(t.OfferedMsgs)+" of "+Thousands(t.PlannedMsgs)+" planned messages", "all"),
		check(t.Drained, "Drain finished", drainWords(t), "nothing ready or held"),
		check(t.HistoryComplete && t.Dropped == 0, "Record is whole", fmt.Sprintf("%s, %s dropped", plural64(t.Events, "event", "events"), Thousands(t.Dropped)), "0 dropped, no torn tail"),
		faultsActive(r),
		check(outside(r) == 0, "Histograms hold", Thousands(outside(r))+" samples above the range or negative", "0"),
		told("Schedule was kept", "late by p99 "+Duration(t.SchedLagP99Ns)+", "+plural64(t.LateSends, "send", "sends")+" late by over 10 ms"),
		told("Little is unknown", strconv.FormatFloat(t.UnknownShare*100, 'f', 2, 64)+"\u00a0% of the publishes have no clear answer"),
		told("Clock", orDash(t.Clock)),
		told("Warm-up cut from latency", plural64(t.WarmupCutMsgs, "message", "messages")),
	}
	if r.Profile.Nodes > 0 {
		rows = append(rows, told("Brokers", nodeWords(r.Profile.Nodes)))
	}
	for _, note := range t.Notes {
		rows = append(rows, told("Note", note))
	}
	return rows
}

func check(holds bool, what, measured, needed string) trustRow {
	if holds {
		return trustRow{statePass, "holds", what, measured, needed}
	}
	return trustRow{stateInconclusive, "fails", what, measured, needed}
}

func told(what, measured string) trustRow {
	return trustRow{State: stateNone, Word: "told", What: what, Measured: measured}
}

func plural64(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Thousands(n) + " " + many
}

func drainWords(t *checkers.Trust) string {
	switch {
	case t.Interrupted:
		return "interrupted, then drained"
	case t.Drained:
		return "nothing was left ready or held"
	}
	return "messages were left when the drain ended"
}

func nodeWords(nodes int) string {
	if nodes == 1 {
		return "one node: nothing here speaks of replication"
	}
	return plural(nodes, "node", "nodes")
}

func faultsActive(r *checkers.Result) trustRow {
	if len(r.Faults) == 0 {
		return told("Faults were active", "none planned")
	}
	active := r.ActiveFaults()
	return check(active == len(r.Faults), "Faults were active", fmt.Sprintf("%d of %d, confirmed by observation", active, len(r.Faults)), "all")
}

func outside(r *checkers.Result) int64 {
	n := int64(0)
	for i := range r.Latency {
		if r.Latency[i].Window == "all" {
			n += r.Latency[i].Overflow + r.Latency[i].Negative
		}
	}
	return n
}

// trustSum says how many checks hold.
func trustSum(rows []trustRow) string {
	checks, fails := 0, 0
	for _, r := range rows {
		switch r.State {
		case statePass:
			checks++
		case stateInconclusive:
			checks++
			fails++
		}
	}
	if fails > 0 {
		return fmt.Sprintf("%d of %d fail", fails, checks)
	}
	return fmt.Sprintf("%d of %d hold", checks, checks)
}
