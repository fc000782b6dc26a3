// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"encoding/json"
	"fmt"
	"strings"
)

// judgeBudget is the kind "dup-budget": messages that are read twice around a fail-over,
// charged to the window that explains them. The fence is when the old cluster refused, the
// switch when the consumers went over to the new one. A record whose first read lies within
// ten seconds of the fence and that is read again after the switch is charged to the fence;
// one first read less than five seconds before the switch, or after it, and again after it, to the
// switch; everything else, and every third read, is unexplained. The budgets are one batch
// of the member at the fence and one poll at the switch, or what an automatic commit leaves
// open.
func judgeBudget(c *Case, rules Rules) (Figures, error) {
	b := budget{windows: map[string]float64{"fence": 100_000, "switch": 160_000}, member: map[string]float64{}, dups: map[string]int{}}
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
	f := Figures{"dups": b.dups, "missed": missed, "not_acked": b.notAcked, "over": over}
	f["valid"] = len(b.acked) > 0 && b.seen() && b.recovered() && len(missed) == 0 && b.dups["unexplained"] == 0 &&
		(over == "" || !rules.has("dup-budget:over"))
	return f, nil
}

const (
	nearFence  = 10_000.0 // ms
	nearSwitch = 5_000.0
	onePoll    = 500
)

type budget struct {
	acked    []row // [value, offset, ms]
	reads    map[string][]row
	batches  []row // [ms, member, size]
	windows  map[string]float64
	auto     *struct{ IntervalS, Rate float64 }
	dups     map[string]int
	member   map[string]float64 // duplicates charged to the fence, by member
	notAcked int
}

// fourRecords is what "P4" stands for.
const fourRecords = `[["7.0",754,90000],["7.1",755,91000],["7.2",756,99000],["7.3",757,170000]]`

func (b *budget) decode(c *Case) error {
	var auto struct {
		IntervalS float64 `json:"interval_s"`
		Rate      float64 `json:"rate"`
	}
	for name, into := range map[string]any{"batches": &b.batches, "auto": &auto} {
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
	acked, own := map[string]bool{}, map[string]bool{}
	for _, r := range b.acked {
		acked[word(r.at(0))] = true
		prefix, _, _ := strings.Cut(word(r.at(0)), ".")
		own[prefix] = true
	}
	for _, r := range reads {
		value := word(r.at(2))
		prefix, _, _ := strings.Cut(value, ".")
		if !own[prefix] {
			continue
		}
		if !acked[value] && len(b.reads[value]) == 0 {
			b.notAcked++
		}
		b.reads[value] = append(b.reads[value], r)
	}
}

// seen tells whether both windows are known.
func (b *budget) seen() bool {
	_, fenced := b.windows["fence"]
	_, switched := b.windows["switch"]
	return fenced && switched
}

// recovered tells whether anything was acked after the switch.
func (b *budget) recovered() bool {
	for _, r := range b.acked {
		if r.number(2) > b.windows["switch"] {
			return true
		}
	}
	return false
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
			if why == "fence" {
				b.member[word(reads[0].at(1))]++
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
	for _, member := range sortedNames(b.member) {
		if b.member[member] > b.fenceBudget(member) {
			return "fence"
		}
	}
	if float64(b.dups["switch"]) > b.switchBudget() {
		return "switch"
	}
	return ""
}

// fenceBudget is what the member can have had in its hands: its largest batch then, or what
// it reads between two automatic commits.
func (b *budget) fenceBudget(member string) float64 {
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
	if b.auto == nil {
		return onePoll
	}
	fenced := (b.windows["switch"] - b.windows["fence"]) / 1000
	return b.auto.Rate*(fenced+b.auto.IntervalS) + onePoll
}
