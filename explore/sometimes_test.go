// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/contract/profiles"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
	"github.com/seed-720a3c77/harness/workloads"
)

// TestMoments: tiny histories, each with the one moment that it is made of.
func TestMoments(t *testing.T) {
	const sec = int64(1e9)
	d := func(at int64, session, op uint32) history.Event {
		return history.Event{Kind: history.Delivery, T: at, Session: session, Op: op, Seq: uint64(op), Place: 1, Off: int64(op), Until: at + 20*sec}
	}
	e := func(k history.Kind, at int64, session, op uint32) history.Event {
		return history.Event{Kind: k, T: at, Session: session, Op: op, Seq: uint64(op), Place: 1}
	}
	settle := func(k history.Kind, at int64, op uint32, verb uint8) history.Event {
		x := e(k, at, 1, op)
		x.Verb, x.Class, x.Off = verb, contract.OK, int64(op)+1
		return x
	}
	died := e(history.SessionClose, 30*sec, 1, 0)
	died.Flags = history.Crashed
	fenced := settle(history.SettleAnswer, 2, 1, history.VerbCommit)
	fenced.Class = contract.Rejected
	start, end := history.HandlerStart, history.HandlerEnd
	for _, c := range []struct {
		profile, want string
		events        []history.Event
	}{
		{"kafka", "crash: nothing in hand", []history.Event{e(start, 0, 1, 0), died}},
		{"kafka", "crash: received, no handler started", []history.Event{d(0, 1, 1), died}},
		{"kafka", "crash: in a handler", []history.Event{d(0, 1, 1), e(start, 1, 1, 1), died}},
		{"kafka", "crash: part of a batch done", []history.Event{d(0, 1, 1), d(0, 1, 2), e(start, 1, 1, 1), e(end, 2, 1, 1), died}},
		{"kafka", "crash: done, not settled", []history.Event{d(0, 1, 1), e(start, 1, 1, 1), e(end, 2, 1, 1), died}},
		{"kafka", "crash: settle under way", []history.Event{d(0, 1, 1), settle(history.SettleStart, 1, 1, history.VerbCommit), died}},
		{"sqs", "lease: settled just before it ended", []history.Event{d(0, 1, 1), settle(history.SettleStart, 19*sec+sec/2, 1, history.VerbAck)}},
		{"sqs", "lease: settled just after it ended", []history.Event{d(0, 1, 1), settle(history.SettleStart, 20*sec+sec/2, 1, history.VerbAck)}},
		{"sqs", "lease: settled when another had the message", []history.Event{d(0, 1, 1), d(25*sec, 2, 1), settle(history.SettleStart, 26*sec, 1, history.VerbAck)}},
		{"sqs", "lease: extended just before it ended", []history.Event{d(0, 1, 1), settle(history.SettleStart, 19*sec+sec/2, 1, history.VerbExtend)}},
		{"sqs", "lease: extended after it ended", []history.Event{d(0, 1, 1), settle(history.SettleStart, 29*sec, 1, history.VerbExtend)}},
		{"sqs", "lease: delivered again while the first handler ran", []history.Event{d(0, 1, 1), e(start, 1, 1, 1), d(21*sec, 2, 1), e(end, 22*sec, 1, 1)}},
		{"kafka", "rebalance: revoked with a handler running", []history.Event{d(0, 1, 1), e(start, 1, 1, 1), e(history.Revoke, 2, 1, 0)}},
		{"kafka", "rebalance: revoked with work not committed", []history.Event{d(0, 1, 1), e(history.Revoke, 2, 1, 0)}},
		{"kafka", "rebalance: revoked while a commit was under way", []history.Event{d(0, 1, 1), settle(history.SettleStart, 1, 1, history.VerbCommit), e(history.Revoke, 2, 1, 0)}},
		{"kafka", "rebalance: commit of an old generation refused", []history.Event{d(0, 1, 1), fenced}},
		{"kafka", "rebalance: read by the new owner while the old one's handler ran", []history.Event{d(0, 1, 1), e(start, 1, 1, 1), d(2, 2, 1), e(end, 3, 1, 1)}},
		{"kafka", "crash: after a settle, before the next receive", []history.Event{d(0, 1, 1), settle(history.SettleAnswer, 2, 1, history.VerbCommit), died}},
		{"rabbitmq", "session: ended by the broker with deliveries in hand", []history.Event{d(0, 1, 1), e(history.SessionClose, 1, 1, 0)}},
	} {
		profile, err := profiles.Named(c.profile)
		if err != nil {
			t.Fatal(err)
		}
		seen := &coverage{profile: &profile, hands: map[uint32]*hand{}, last: map[msg.ID]*held{}}
		for i := range c.events {
			seen.observe(&c.events[i])
		}
		if !slices.Contains(seen.names(), c.want) {
			t.Errorf("%s: saw %q, want %q", c.profile, seen.names(), c.want)
		}
		if !slices.Contains(Moments(&profile), c.want) {
			t.Errorf("%q is not in the list of %s", c.want, c.profile)
		}
	}
}

// TestNeverSeenIsSaid: a workload without a fault sees no crash, and the summary says so of
// every moment that its profile knows; a profile is not asked for what it does not know.
func TestNeverSeenIsSaid(t *testing.T) {
	s := space(t, clean)
	summary, err := Run(context.Background(), Request{Space: s, First: 1, Seeds: 20})
	if err != nil {
		t.Fatal(err)
	}
	if len(summary.Sometimes) != len(Moments(&s.Profile)) || summary.Histories != 20 {
		t.Errorf("%d moments and %d histories, want %d and 20", len(summary.Sometimes), summary.Histories, len(Moments(&s.Profile)))
	}
	for _, m := range summary.Sometimes {
		if strings.HasPrefix(m.Moment, "crash:") && m.Seeds > 0 {
			t.Errorf("%q in %d seeds without a fault", m.Moment, m.Seeds)
		}
		if strings.HasPrefix(m.Moment, "lease:") {
			t.Errorf("a log was asked for %q", m.Moment)
		}
	}
}

// TestFaultsAreSeen: a kill in the middle of a batch is seen as one, on every seed.
func TestFaultsAreSeen(t *testing.T) {
	summary, err := Run(context.Background(), Request{Space: space(t, blind), First: 1, Seeds: 10})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range summary.Sometimes {
		if m.Moment == "crash: part of a batch done" && m.Seeds != 10 {
			t.Errorf("%q in %d of 10 seeds", m.Moment, m.Seeds)
		}
	}
}

// TestSlowHandlerSeesLeaseRaces: work that outlasts its lease is what the races are made of.
func TestSlowHandlerSeesLeaseRaces(t *testing.T) {
	doc, err := workloads.Find("slow-handler")
	if err != nil {
		t.Fatal(err)
	}
	profile, err := profiles.Named("sqs")
	if err != nil {
		t.Fatal(err)
	}
	trial := try(t, &Space{Document: doc, Variant: "expires+plain", Profile: profile}, 1)
	for _, want := range []string{"lease: delivered again while the first handler ran", "lease: settled when another had the message"} {
		if !slices.Contains(trial.Seen, want) {
			t.Errorf("%q was not seen, only %q", want, trial.Seen)
		}
	}
}
