// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// judgeBudget is the kind "dup-budget": messages that are read twice around a fail-over,
// charged to the window that explains them. The fence is when the old cluster refused, the
// switch when the consumers went over to the new one; a time of 0 was never seen. A record
// whose first read lies within ten seconds of the fence and that is read again after the
// switch is charged to the fence; one first read less than five seconds before the switch,
// or after it, and again after it, to the switch; everything else, and every third read, is
// unexplained. The budgets of a member are one batch at the fence and one poll at the
// switch, or what an automatic commit leaves open.
//
// A case may have bounds of its own: max_poll_records is the size of a poll, budget has the
// budgets themselves, and min_acked_after_switch is how many records must be acked after the
// switch to show that it went on. Sends that failed are listed in send_errors: there may be
// none.
func judgeBudget(c *Case, rules Rules) (Figures, error) {
	b := budget{windows: map[string]float64{"fence": 100_000, "switch": 160_000}, fenced: map[string]float64{}, switched: map[string]float64{},
		dups: map[string]int{}, own: map[string]bool{}, poll: c.bound(onePoll, "poll"), enough: c.bound(1, "acked_after", "min_")}
	if err := b.decode(c); err != nil {
		return nil, err
	}
	b.charge(rules)
	missed := []any{}
	for _, r := range b.acked {
		if len(b.reads[word(r.at(0))]) == 0 {
			missed = append(missed, r.at(0))
		}
	}
	over := b.over()
	failed := b.failedSends(c)
	f := Figures{"dups": b.dups, "missed": missed, "not_acked": b.notAcked, "over": over, "send_errors": failed,
		"acked": len(b.acked), "acked_after_switch": b.ackedAfterSwitch()}
	f["valid"] = len(b.acked) > 0 && b.seen() && b.recovered() && len(missed) == 0 && b.dups["unexplained"] == 0 &&
		(failed == 0 || !rules.has("dup-budget:failed")) && (over == "" || !rules.has("dup-budget:over"))
	return f, nil
}

const (
	nearFence  = 10_000.0 // ms
	nearSwitch = 5_000.0
	onePoll    = 500.0
)

type budget struct {
	acked    []row // [value, offset, ms]
	reads    map[string][]row
	own      map[string]bool // prefixes of this run's values
	batches  []row           // [ms, member, size]
	windows  map[string]float64
	auto     *struct{ IntervalS, Rate float64 }
	dups     map[string]int
	fenced   map[string]float64 // duplicates charged to the fence, by the member that read first
	switched map[string]float64 // and to the switch, by the one that read again
	limits   map[string]float64 // budgets that the case sets itself, by window
	poll     float64            // the most records of one poll
	enough   float64            // acked records that show that it went on
	notAcked int
}

// fourRecords is what "P4" stands for.
const fourRecords = `[["7.0",754,90000],["7.1",755,91000],["7.2",756,99000],["7.3",757,170000]]`

func (b *budget) decode(c *Case) error {
	var auto struct {
		IntervalS float64 `json:"interval_s"`
		Rate      float64 `json:"rate"`
	}
	for name, into := range map[string]any{"batches": &b.batches, "auto": &auto, "budget": &b.limits} {
		if err := c.field(name, into); err != nil {
			return err
		}
	}
	if _, given := c.fields["auto"]; given {
		b.auto = &struct{ IntervalS, Rate float64 }{auto.IntervalS, auto.Rate}
	}
	if _, given := c.fields["windows"]; given {
		b.windows = map[string]float64{}
		if err := c.field("windows", &b.windows); err != nil {
			return err
		}
	}
	if err := b.decodeAcked(c); err != nil {
		return err
	}
	return b.decodeReads(c)
}

func (b *budget) decodeAcked(c *Case) error {
	raw := c.fields["acked"]
	if string(raw) == `"P4"` {
		raw = json.RawMessage(fourRecords)
	}
	if len(raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, &b.acked); err != nil {
		return fmt.Errorf("acked: %w", err)
	}
	return nil
}

func (b *budget) decodeReads(c *Case) error {
	var generated struct {
		Gen string `json:"gen"`
		N   int    `json:"n"`
	}
	var reads []row
	if err := json.Unmarshal(c.fields["reads"], &generated); err == nil && generated.Gen != "" {
		if generated.Gen != "switch-rereads" || generated.N < 0 || generated.N > maxSpan {
			return fmt.Errorf("reads: %w: gen %q", errShape, generated.Gen)
		}
		reads = b.rereads(generated.N)
	} else if err := c.field("reads", &reads); err != nil {
		return err
	}
	b.take(reads)
	return nil
}

// rereads are n records that were acked shortly before the switch, read before it and read
// again after it, and one that shows that it went on.
func (b *budget) rereads(n int) (reads []row) {
	at := b.windows["switch"]
	b.acked = nil
	for i := range n {
		value := fmt.Sprintf("7.%d", i)
		b.acked = append(b.acked, row{value, float64(i), at - 4000})
		reads = append(reads, row{at - 3000, "a", value}, row{at + 5000, "a", value})
	}
	last := fmt.Sprintf("7.%d", n)
	b.acked = append(b.acked, row{last, float64(n), at + 10_000})
	return append(reads, row{at + 10_100, "a", last})
}

// take sorts reads by record. Those of another run, by their prefix, are not looked at.
func (b *budget) take(reads []row) {
	b.reads = map[string][]row{}
	acked := map[string]bool{}
	for _, r := range b.acked {
		acked[word(r.at(0))] = true
		b.own[prefix(word(r.at(0)))] = true
	}
	for _, r := range reads {
		value := word(r.at(2))
		if !b.own[prefix(value)] {
			continue
		}
		if !acked[value] && len(b.reads[value]) == 0 {
			b.notAcked++
		}
		b.reads[value] = append(b.reads[value], r)
	}
	for _, reads := range b.reads {
		slices.SortStableFunc(reads, func(a, b row) int { return cmp.Compare(a.number(0), b.number(0)) })
	}
}

// seen tells whether both windows are known.
func (b *budget) seen() bool { return b.windows["fence"] > 0 && b.windows["switch"] > 0 }

// recovered tells whether enough was acked after the switch.
func (b *budget) recovered() bool { return float64(b.ackedAfterSwitch()) >= b.enough }

func (b *budget) ackedAfterSwitch() (n int) {
	for _, r := range b.acked {
		if r.number(2) > b.windows["switch"] {
			n++
		}
	}
	return n
}

// failedSends counts the sends of this run that failed. They may be listed by value, alone
// or first in a row, or only counted.
func (b *budget) failedSends(c *Case) (n int) {
	for name, raw := range c.fields {
		var listed any
		if !strings.Contains(name, "error") && !strings.Contains(name, "failed") || json.Unmarshal(raw, &listed) != nil {
			continue
		}
		switch listed := listed.(type) {
		case float64:
			n += int(listed)
		case string:
			n += b.failedSend(listed)
		case []any:
			for _, one := range listed {
				n += b.failedSend(one)
			}
		}
	}
	return n
}

// failedSend is 1 for a send of this run.
func (b *budget) failedSend(listed any) int {
	if r, several := listed.([]any); several {
		listed = row(r).at(0)
	}
	if b.own[prefix(word(listed))] {
		return 1
	}
	return 0
}

// prefix is what names the run that a value is of.
func prefix(value string) string {
	run, _, _ := strings.Cut(value, ".")
	return run
}

// charge gives every extra read to what explains it.
func (b *budget) charge(rules Rules) {
	if !b.seen() {
		return
	}
	for _, value := range sortedNames(b.reads) {
		reads := b.reads[value]
		for i := 1; i < len(reads); i++ {
			why := b.why(reads[0].number(0), reads[i].number(0))
			if i > 1 && rules.has("dup-budget:third") {
				why = "unexplained"
			}
			b.dups[why]++
			switch why {
			case "fence":
				b.fenced[word(reads[0].at(1))]++
			case "switch":
				b.switched[word(reads[i].at(1))]++
			}
		}
	}
}

func (b *budget) why(first, again float64) string {
	fence, switched := b.windows["fence"], b.windows["switch"]
	switch {
	case again >= switched && first >= fence-nearFence && first <= fence+nearFence:
		return "fence"
	case again >= switched && first >= switched-nearSwitch:
		return "switch"
	}
	return "unexplained"
}

// over names the first budget that was not kept, "" for none.
func (b *budget) over() string {
	for _, member := range sortedNames(b.fenced) {
		if b.fenced[member] > b.fenceBudget(member) {
			return "fence"
		}
	}
	for _, n := range b.switched {
		if n > b.switchBudget() {
			return "switch"
		}
	}
	return ""
}

// fenceBudget is what the member can have had in its hands: its largest batch then, or what
// it reads between two automatic commits.
func (b *budget) fenceBudget(member string) float64 {
	if own, set := b.limits["fence"]; set {
		return own
	}
	if b.auto != nil {
		return b.auto.IntervalS * b.auto.Rate
	}
	largest := 0.0
	for _, r := range b.batches {
		at := r.number(0)
		if word(r.at(1)) == member && at >= b.windows["fence"]-nearFence && at <= b.windows["fence"]+nearFence {
			largest = max(largest, r.number(2))
		}
	}
	return largest
}

func (b *budget) switchBudget() float64 {
	if own, set := b.limits["switch"]; set {
		return own
	}
	if b.auto == nil {
		return b.poll
	}
	fenced := (b.windows["switch"] - b.windows["fence"]) / 1000
	return b.auto.Rate*(fenced+b.auto.IntervalS) + b.poll
}
