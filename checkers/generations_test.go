// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

// shown writes generations in one line each: "rebalance 2: 1 of 1 moved, 1-2 uncommitted,
// 2 again, 1 late, 1 beyond, 3ms".
func shown(all []Generation) string {
	var lines []string
	for _, g := range all {
		line := fmt.Sprintf("%s %d:", g.Kind, g.Number)
		if g.Kind == KindRebalance {
			line += fmt.Sprintf(" %d of %d moved,", g.Moved, g.Partitions)
		}
		line += fmt.Sprintf(" %d in, %d-%d uncommitted, %d again", g.Members, g.UncommittedMin, g.UncommittedMax, g.Redelivered)
		if g.Late > 0 {
			line += fmt.Sprintf(", %d late", g.Late)
		}
		if g.Beyond > 0 {
			line += fmt.Sprintf(", %d beyond", g.Beyond)
		}
		if g.GapNs != never {
			line += ", " + time.Duration(g.GapNs).String()
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "; ")
}

// in puts the latest event into a generation of the group.
func (t *tale) in(gen uint32) *tale { return t.edit(func(e *history.Event) { e.Gen = gen }) }

func (t *tale) joins(worker string, gen uint32) *tale {
	t.add(history.Event{Kind: history.SessionOpen, Session: t.session(worker)})
	return t.in(gen)
}

// generational is a story with its generations.
type generational struct {
	story
	rows string
}

func generations(t *testing.T, all []generational) {
	t.Helper()
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) {
			r := s.tale.check()
			wantFindings(t, &r, s.want)
			if got := shown(r.Generations); got != s.rows {
				t.Errorf("generations %q\nwant %q", got, s.rows)
			}
		})
	}
}

func TestRebalances(t *testing.T) { generations(t, rebalanceStories()) }

func rebalanceStories() []generational {
	// w0 has read 0 to 3 and committed 2, certainly.
	begun := func() *tale {
		return tell(kafka).publish(ids(0, 3)...).joins("w0", 1).assign("w0", 0, "earliest").in(1).
			work("w0", ids(0, 1)...).deliver("w0", ids(2, 3)...).handle("w0", ids(2, 3)...)
	}
	moved := func(t *tale, off int64) *tale {
		return t.revoke("w0").joins("w1", 2).assign("w1", off, "committed").in(2)
	}
	const first = "rebalance 1: 0 of 1 moved, 1 in, 0-0 uncommitted, 0 again, 1ms"
	return []generational{
		{story{"no group", tell(kafka).drained(), ""}, ""},
		{story{"nothing uncommitted", moved(tell(kafka).publish(ids(0, 1)...).joins("w0", 1).assign("w0", 0, "earliest").in(1).work("w0", "p0/0"), 1).work("w1", "p0/1").drained(), ""},
			first + "; rebalance 2: 1 of 1 moved, 1 in, 0-0 uncommitted, 0 again, 3ms"},
		{story{"goes on at the commit", moved(begun(), 2).redeliver("w1", ids(2, 3)...).drained(), "effect-duplicates p0/2 p0/3; redelivered p0/2 p0/3"},
			first + "; rebalance 2: 1 of 1 moved, 1 in, 2-2 uncommitted, 2 again, 3ms"},
		{story{"one that is not done again", moved(begun(), 2).redeliver("w1", "p0/2").undrained("limit"), "effect-duplicates p0/2; redelivered p0/2"},
			first + "; rebalance 2: 1 of 1 moved, 1 in, 2-2 uncommitted, 1 again, 3ms"},
		{story{"commit unknown, arrived", moved(begun().settle("w0", "p0/2", history.VerbCommit, contract.Unknown), 3).redeliver("w1", "p0/3").drained(), "effect-duplicates p0/3; redelivered p0/3"},
			first + "; rebalance 2: 1 of 1 moved, 1 in, 1-2 uncommitted, 1 again, 3ms"},
		{story{"commit unknown, not arrived", moved(begun().settle("w0", "p0/2", history.VerbCommit, contract.Unknown), 2).redeliver("w1", ids(2, 3)...).drained(), "effect-duplicates p0/2 p0/3; redelivered p0/2 p0/3"},
			first + "; rebalance 2: 1 of 1 moved, 1 in, 1-2 uncommitted, 2 again, 3ms"},
		{story{"rewound too far", moved(begun(), 0).redeliver("w1", ids(0, 3)...).drained(),
			"behind-committed p0/0; duplicate-unexplained p0/0 p0/1; effect-duplicates p0/0 p0/1 p0/2 p0/3; redelivered p0/0 p0/1 p0/2 p0/3; redelivered-beyond-uncommitted p0/0 p0/1"},
			first + "; rebalance 2: 1 of 1 moved, 1 in, 2-2 uncommitted, 4 again, 2 beyond, 3ms"},
		{story{"twice in one generation", moved(begun(), 2).redeliver("w1", ids(2, 3)...).redeliver("w1", "p0/3").drained(),
			"duplicate-unexplained p0/3; effect-duplicates p0/2 p0/3 p0/3; redelivered p0/2 p0/3 p0/3; redelivered-beyond-uncommitted p0/3"},
			first + "; rebalance 2: 1 of 1 moved, 1 in, 2-2 uncommitted, 3 again, 1 beyond, 3ms"},
		{story{"the former owner reads on", moved(begun(), 2).publish("p0/4").deliver("w0", "p0/4").redeliver("w1", ids(2, 4)...).drained(),
			"effect-duplicates p0/2 p0/3; redelivered p0/2 p0/3 p0/4"},
			first + "; rebalance 2: 1 of 1 moved, 1 in, 3-3 uncommitted, 3 again, 6ms"},
		{story{"the former owner comes after", moved(begun(), 2).redeliver("w1", ids(2, 3)...).redeliver("w0", "p0/3").drained(),
			"effect-duplicates p0/2 p0/3 p0/3; redelivered p0/2 p0/3 p0/3; zombie-effect p0/3; zombie-handling p0/3; zombie-settle p0/3"},
			first + "; rebalance 2: 1 of 1 moved, 1 in, 2-2 uncommitted, 2 again, 1 late, 3ms"},
		{story{"the same owner again", begun().revoke("w0").joins("w0", 2).assign("w0", 2, "committed").in(2).redeliver("w0", ids(2, 3)...).drained(), "effect-duplicates p0/2 p0/3; redelivered p0/2 p0/3"},
			first + "; rebalance 2: 0 of 1 moved, 1 in, 2-2 uncommitted, 2 again, 3ms"},
		{story{"a crash", begun().crash("w0").joins("w1", 2).at(1000).assign("w1", 2, "committed").in(2).redeliver("w1", ids(2, 3)...).drained(), "effect-duplicates p0/2 p0/3; redelivered p0/2 p0/3"},
			first + "; rebalance 2: 1 of 1 moved, 1 in, 2-2 uncommitted, 2 again, 966ms"},
		{story{"told late of a generation that is over", moved(begun(), 2).redeliver("w1", ids(2, 3)...).joins("w2", 1).assign("w2", 2, "committed").in(1).revoke("w2").publish("p0/4").work("w1", "p0/4").drained(), "effect-duplicates p0/2 p0/3; redelivered p0/2 p0/3"},
			"rebalance 1: 0 of 1 moved, 2 in, 0-0 uncommitted, 0 again, 1ms; rebalance 2: 1 of 1 moved, 1 in, 2-2 uncommitted, 2 again, 3ms"},
		{story{"told to go back", begun().seek("w0", 0).redeliver("w0", ids(0, 3)...).drained(), "effect-duplicates p0/0 p0/1 p0/2 p0/3; redelivered p0/0 p0/1 p0/2 p0/3"}, first},
		{story{"generations without a number", begun().revoke("w0").assign("w1", 2, "committed").redeliver("w1", ids(2, 3)...).revoke("w1").assign("w2", 4, "committed").drained(), "effect-duplicates p0/2 p0/3; redelivered p0/2 p0/3"},
			first + "; rebalance 2: 1 of 1 moved, 1 in, 2-2 uncommitted, 2 again, 2ms; rebalance 3: 1 of 1 moved, 1 in, 0-0 uncommitted, 0 again"},
	}
}

func TestExpiries(t *testing.T) { generations(t, expiryStories()) }

func expiryStories() []generational {
	leased := func(profile string) *tale { return tell(profile).lease(time.Second).publish(ids(0, 3)...) }
	return []generational{
		{story{"none", leased(sqs).work("w0", ids(0, 3)...).at(3000).drained(), ""}, ""},
		{story{"a herd", leased(sqs).deliver("w0", ids(0, 1)...).deliver("w1", ids(2, 3)...).crash("w0").crash("w1").at(2000).work("w2", ids(0, 3)...).drained(), "redelivered p0/0 p0/1 p0/2 p0/3"},
			"expiry 1: 2 in, 4-4 uncommitted, 4 again, 991ms"},
		{story{"settled in time", leased(sqs).deliver("w0", ids(0, 3)...).handle("w0", ids(0, 3)...).ack("w0", ids(0, 2)...).at(2000).work("w1", "p0/3").drained(), "effect-duplicates p0/3; redelivered p0/3"},
			"expiry 1: 1 in, 1-1 uncommitted, 1 again, 991ms"},
		{story{"a delete unknown", leased(sqs).deliver("w0", ids(0, 3)...).handle("w0", ids(0, 3)...).ack("w0", ids(0, 2)...).settle("w0", "p0/3", history.VerbAck, contract.Unknown).at(3000).drained(), ""},
			"expiry 1: 0 in, 0-1 uncommitted, 0 again"},
		{story{"the answer to a delete came too late to tell", leased(fifo).deliver("w0", "p0/0").handle("w0", "p0/0").settle("w0", "p0/0", history.VerbAck, contract.Unclassed).at(2000).settledLate("w0", "p0/0").work("w1", ids(0, 3)...).drained(),
			"effect-duplicates p0/0; redelivered p0/0"}, "expiry 1: 1 in, 0-1 uncommitted, 1 again, 992ms"},
		{story{"two bursts", leased(sqs).deliver("w0", "p0/0").crash("w0").at(9000).deliver("w1", "p0/1").crash("w1").at(20_000).work("w2", ids(0, 3)...).drained(), "redelivered p0/0 p0/1"},
			"expiry 1: 1 in, 1-1 uncommitted, 1 again, 18.991s; expiry 2: 1 in, 1-1 uncommitted, 1 again, 10.007s"},
		{story{"given back", leased(sqs).deliver("w0", "p0/0").nack("w0", "p0/0").work("w1", ids(0, 3)...).at(3000).drained(), "redelivered p0/0"}, ""},
		{story{"extended", extended(leased(fifo).deliver("w0", "p0/0").at(900), contract.OK).ack("w0", "p0/0").work("w1", ids(1, 3)...).at(3000).drained(), "settled-without-success p0/0"}, ""},
		{story{"a settled one comes when its lease is over", leased(fifo).work("w0", "p0/0").deliver("w0", ids(1, 3)...).at(1100).work("w1", ids(0, 3)...).drained(),
			"duplicate-after-ack p0/0; effect-duplicates p0/0; redelivered p0/0 p0/1 p0/2 p0/3; redelivered-beyond-uncommitted p0/0"},
			"expiry 1: 1 in, 3-3 uncommitted, 4 again, 1 beyond, 98ms"},
	}
}

func TestChannelEnds(t *testing.T) { generations(t, channelStories()) }

func channelStories() []generational {
	window := func(n int) *tale {
		told := tell(rabbitmq)
		told.header.Subscriptions[0].Batch = n
		return told.publish(ids(0, 3)...)
	}
	return []generational{
		{story{"polite", window(2).work("w0", ids(0, 3)...).closed("w0", "").drained(), ""}, ""},
		{story{"all of it comes back", window(2).work("w0", ids(0, 1)...).deliver("w0", ids(2, 3)...).closed("w0", "left").redeliverFlagged("w1", 2, 3).drained(), "innocent-victim p0/2 p0/3; redelivered p0/2 p0/3"},
			"channel 1: 1 in, 2-2 uncommitted, 2 again, 8ms"},
		{story{"an ack that nothing proves", window(2).deliver("w0", ids(0, 3)...).handle("w0", ids(0, 3)...).ack("w0", ids(0, 3)...).crash("w0").redeliverFlagged("w1", 3, 3).drained(), "effect-duplicates p0/3; redelivered p0/3"},
			"channel 1: 1 in, 0-2 uncommitted, 1 again, 1ms"},
		{story{"more than the window", window(2).deliver("w0", ids(0, 3)...).handle("w0", ids(0, 3)...).ack("w0", ids(0, 3)...).crash("w0").redeliverFlagged("w1", 1, 3).drained(),
			"effect-duplicates p0/1 p0/2 p0/3; redelivered p0/1 p0/2 p0/3; redelivered-beyond-uncommitted p0/1"},
			"channel 1: 1 in, 0-2 uncommitted, 3 again, 1 beyond, 15ms"},
		{story{"nobody else", window(2).deliver("w0", ids(0, 1)...).crash("w0").undrained("limit"), "undrained p0/0 p0/1 p0/2 p0/3"},
			"channel 1: 1 in, 2-2 uncommitted, 0 again"},
	}
}

// redeliverFlagged works through messages that the broker says were delivered before.
func (t *tale) redeliverFlagged(worker string, from, to int) *tale {
	for _, text := range ids(from, to) {
		t.deliver(worker, text).flagged().counted(1)
		t.handle(worker, text).ack(worker, text)
	}
	return t
}

func generationStories() (all []story) {
	for _, g := range [][]generational{rebalanceStories(), expiryStories(), channelStories()} {
		for _, s := range g {
			all = append(all, s.story)
		}
	}
	return all
}

// settledLate is the answer to an ack that was asked for a second and more before.
func (t *tale) settledLate(worker, text string) *tale {
	e := t.of(worker, text, history.SettleAnswer)
	e.Verb, e.Class, e.D = history.VerbAck, t.header.Profile.Settle, int64(2*time.Second)-10*millisecond
	return t
}
