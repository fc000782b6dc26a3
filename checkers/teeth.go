// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"fmt"
	"slices"
	"strings"
)

// A pass must have teeth: this file says what a run lacks to be one.

const (
	// offeredEnough is the least share of the planned messages that must be attempted.
	offeredEnough = 0.95
	// unknownTooMany is the share of unknown publishes from which nothing can be told.
	unknownTooMany = 0.05
)

// everyPassLacks lists what no claim can pass without.
func (b *bench) everyPassLacks() (lacks []Missing) {
	t := &b.result.Trust
	need := func(bad bool, check, found, needed, decide string) {
		if bad {
			lacks = append(lacks, Missing{check, found, needed, decide})
		}
	}
	again := b.command()
	need(t.Dropped > 0, "Recorder kept up", counted(t.Dropped, "event was", "events were")+" not recorded", "0 dropped events", "run again with a lower rate: "+again)
	need(t.Dropped == 0 && !t.HistoryComplete, "Record is whole", "a part of the history is missing or damaged", "every segment whole", again)
	need(t.Interrupted, "Run ended by itself", "the run was interrupted", "a run to its end", again)
	need(t.OfferedMsgs == 0, "Traffic ran", "no message was published", "at least 1 message", again)
	need(t.OfferedMsgs > 0 && b.f.exposure.delivered == 0, "Traffic ran", b.f.nothing(), "at least 1 delivery", again)
	need(float64(t.OfferedMsgs) < offeredEnough*float64(t.PlannedMsgs) && t.OfferedMsgs > 0, "Load was offered",
		fmt.Sprintf("%s of %s planned messages were started", number(t.OfferedMsgs), number(t.PlannedMsgs)), "at least 95 %", "run again with a lower rate or longer: "+again)
	need(t.UnknownShare > unknownTooMany, "Little is unknown",
		fmt.Sprintf("%.1f %% of the publishes have no clear answer", t.UnknownShare*100), "at most 5 %", again)
	return append(lacks, b.faultsLack(again)...)
}

// faultsLack lists what the planned faults did not do.
func (b *bench) faultsLack(again string) (lacks []Missing) {
	windows := b.f.c.faults.windows
	for i := range max(len(b.f.c.header.Faults), len(windows)) {
		if i >= len(windows) || windows[i].ActiveNs == never {
			lacks = append(lacks, Missing{"Faults were active", "the fault f" + number(int64(i+1)) + b.named(i) + " was never active", "every planned fault observed active",
				"plan the fault into the load, or more load: " + again})
			continue
		}
		f := &windows[i]
		if f.unfinished+f.waiting == 0 && f.told {
			lacks = append(lacks, Missing{"Work was in hand when they struck", "the fault " + f.at() + " struck when the program had nothing in hand", "at least 1 message in hand", "let more work queue up, with more messages and a higher rate: " + again})
		} else if f.unfinished+f.waiting == 0 && !onCalls[f.Name] {
			lacks = append(lacks, Missing{"Work was in flight when they struck", "the fault " + f.at() + " struck when nothing was held or stored", "at least 1 message held or stored", "move the fault into the load: " + again})
		}
		if f.HealedNs != never && f.after == 0 && !(b.f.c.ends.drained && f.FirstSuccessNs != never) {
			lacks = append(lacks, Missing{"Work succeeded after the heal", "nothing succeeded after " + f.at() + " had healed", "at least 1 success", "run longer after the fault: " + again})
		}
	}
	return lacks
}

// onCalls are the faults that are active when they have hit a call, which was in flight then.
var onCalls = map[string]bool{
	"drop": true, "drop-answer": true, "delay": true, "hold": true, "fail": true, "shorten": true, "again": true, "close-channel": true,
}

func (b *bench) named(i int) string {
	if i < len(b.f.c.header.Faults) {
		h := b.f.c.header.Faults[i]
		return " (" + strings.TrimSpace(h.Name+" "+h.Target) + ")"
	}
	return ""
}

// left names what the consumer had begun and not ended.
func (f *fault) left() string {
	if f.told {
		return "in hand"
	}
	return "unfinished"
}

func (f *fault) at() string { return fmt.Sprintf("f%d", f.Number) }

func (b *bench) command() string {
	if b.result.Command != "" {
		return b.result.Command
	}
	if b.f.c.header.Tool == imported {
		return "record it again and harness history import --format " + b.result.Workload
	}
	return "harness run " + b.result.Workload
}

// needsEnds wants every acked message to have come to an end: then none can be lost.
func needsEnds(b *bench) []Missing {
	if c := b.f.counts; c["published"] > 0 && c["acked"]+c["accepted-only"] == 0 {
		return []Missing{{"Something was owed", "no publish was acked", "at least 1 acked message", b.command()}}
	}
	left := b.f.count(undrained)
	if left == 0 {
		return nil
	}
	found := "no drain was recorded, and " + counted(left, "message is", "messages are") + " undrained"
	if b.f.c.ends.drainSeen {
		found = "the drain ended before " + counted(left, "message", "messages") + " had come to an end: undrained, neither lost nor done"
	}
	return []Missing{{"Drain finished", found, "0 undrained", "allow the drain more time: " + b.command()}}
}

// needsDrain wants nothing stored or held besides: what is may yet be done again.
func needsDrain(b *bench) []Missing {
	if lacks := needsEnds(b); lacks != nil || b.f.c.ends.drained {
		return lacks
	}
	found := "no drain was recorded"
	if b.f.c.ends.drainSeen {
		found = "the drain did not end, so that messages may yet be done again: " + b.f.c.ends.drainText
	}
	return []Missing{{"Drain finished", found, "nothing stored or held", "allow the drain more time: " + b.command()}}
}

func needsEffects(b *bench) []Missing {
	if b.f.exposure.effects > 0 {
		return nil
	}
	return []Missing{{"Something was done", "no effect was recorded", "at least 1 effect", b.command()}}
}

func needsHandlers(b *bench) []Missing {
	if b.f.exposure.handlers > 0 {
		return nil
	}
	return []Missing{{"Something was done", "no handler ran", "at least 1 handler run", b.command()}}
}

func needsDeadLetters(b *bench) []Missing {
	if b.f.count(deadLettered) > 0 {
		return nil
	}
	return []Missing{{"Something was dead-lettered", "nothing was checked: no message was dead-lettered", "at least 1 dead letter", "add a message that always fails: " + b.command()}}
}

func needsPairs(r row) func(*bench) []Missing {
	return func(b *bench) []Missing {
		if b.f.exposure.orderedPairs[r] > 0 {
			return nil
		}
		return []Missing{{"Order could be broken", "no two messages had an order to keep", "at least 1 ordered pair", "publish more than one message a key: " + b.command()}}
	}
}

// teeth says what the run did that could have broken a claim.
func (b *bench) teeth() string {
	var said []string
	for i := range b.f.c.faults.windows {
		if f := &b.f.c.faults.windows[i]; f.ActiveNs != never {
			said = append(said, fmt.Sprintf("%s %s and %s stored when %s struck", number(f.unfinished), f.left(), number(f.waiting), f.at()))
		}
	}
	switch {
	case len(said) > 0:
	case len(b.f.c.header.Faults) > 0:
		return b.f.traffic() + ", no fault was active"
	default:
		return b.f.traffic() + ", no fault planned"
	}
	if rest := len(said) - toldFaults; rest > 1 {
		said = append(said[:toldFaults], fmt.Sprintf("%d more faults", rest))
	}
	return strings.Join(said, "; ")
}

// toldFaults is how many faults are told one by one; the report lists all.
const toldFaults = 4

// addMissing keeps each gap once.
func addMissing(have, more []Missing) []Missing {
	for _, m := range more {
		if !slices.Contains(have, m) {
			have = append(have, m)
		}
	}
	return have
}
