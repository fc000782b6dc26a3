// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"strings"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

// schedule publishes n messages due every step, each acked when answered says so.
func schedule(n int, step time.Duration, answered func(due int64) int64) *tale {
	t := tell(fifo)
	for i := range n {
		due := int64(i) * int64(step)
		end := answered(due)
		session := t.ref(history.Sessions, "p0||orders|1")
		e := history.Event{Seq: uint64(i), Session: session, Op: uint32(i), Place: t.place("orders"), Attempt: 1}
		e.Kind, e.T, e.D = history.PublishStart, due, 0
		t.events = append(t.events, e)
		e.Kind, e.T, e.D, e.Class, e.Answer = history.PublishAnswer, end, end-due, contract.OK, contract.Acked
		t.events = append(t.events, e)
	}
	return t
}

func latencyOf(t *testing.T, r *Result, name, window string) Latency {
	t.Helper()
	for _, l := range r.Latency {
		if l.Name == name && l.Window == window {
			return l
		}
	}
	t.Fatalf("no latency %s %s", name, window)
	return Latency{}
}

func near(t *testing.T, what string, got, want int64) {
	t.Helper()
	if diff := got - want; diff < -want/200 || diff > want/200 {
		t.Errorf("%s = %d, want %d +- 0.5 %%", what, got, want)
	}
}

// TestCoordinatedOmission stalls an open-loop schedule for 15 s: what was due in the
// stall waited, and its waiting is in the figures.
func TestCoordinatedOmission(t *testing.T) {
	const ms, s = int64(time.Millisecond), int64(time.Second)
	stalled := schedule(3000, 10*time.Millisecond, func(due int64) int64 {
		if end := due + ms; due < 7*s || due >= 22*s {
			return end
		}
		return 22*s + ms
	})
	r := stalled.check()
	l := latencyOf(t, &r, "publish", "all")
	if l.Count != 3000 {
		t.Errorf("%d samples, want 3,000", l.Count)
	}
	if l.P50Ns > 11*ms {
		t.Errorf("p50 = %d, want at most 11 ms", l.P50Ns)
	}
	near(t, "p99", l.P99Ns, 14_700*ms)
	near(t, "max", l.MaxNs, 15_001*ms)
	h, err := hdr.Decode([]byte(l.HDR))
	if err != nil || h.TotalCount() != 3000 {
		t.Fatalf("the packed histogram: %v", err)
	}
	near(t, "mean", int64(h.Mean()), 3_754*ms)
}

func TestLatencyOverflowAndNegative(t *testing.T) {
	r := schedule(1000, time.Millisecond, func(due int64) int64 {
		switch due {
		case 0:
			return due + int64(2*time.Hour)
		case int64(time.Millisecond):
			return due - 1
		}
		return due + int64(10*time.Millisecond)
	}).check()
	l := latencyOf(t, &r, "publish", "all")
	if l.Overflow != 1 || l.Negative != 1 || l.Count != 998 {
		t.Errorf("overflow %d, negative %d, count %d; want 1, 1, 998", l.Overflow, l.Negative, l.Count)
	}
	near(t, "p50", l.P50Ns, int64(10*time.Millisecond))
}

func TestWarmUpIsCutFromLatencyOnly(t *testing.T) {
	s := tell(fifo)
	s.phase("warm-up").publish("p0/0").phase("load").publish("p0/1").work("w0", ids(0, 1)...).drained()
	r := s.check()
	if l := latencyOf(t, &r, "publish", "all"); l.Count != 1 || r.Trust.WarmupCutMsgs != 1 || r.Counts["done"] != 2 {
		t.Errorf("%d samples, %d cut, %d done; want 1, 1, 2", l.Count, r.Trust.WarmupCutMsgs, r.Counts["done"])
	}
	if len(r.Phases) != 2 || r.Phases[0].Name != "warm-up" || r.Phases[0].EndNs != r.Phases[1].StartNs || r.Phases[1].EndNs != s.now {
		t.Errorf("phases %+v", r.Phases)
	}
}

func (t *tale) phase(name string) *tale {
	return t.with(history.Event{Kind: history.Phase, Text: t.ref(history.Texts, name)})
}

func TestLatencyWindows(t *testing.T) {
	s := tell(rabbitmq).publish("p0/0").work("w0", "p0/0").send("p0/1").fault(history.FaultRequested, 1).fault(history.FaultActive, 1).answer("p0/1", contract.OK)
	r := s.fault(history.FaultHealed, 1).publish("p0/2").check()
	for window, want := range map[string]int64{"before": 1, "during": 1, "after": 1, "all": 3} {
		if l := latencyOf(t, &r, "publish", window); l.Count != want {
			t.Errorf("publish %s: %d samples, want %d", window, l.Count, want)
		}
	}
}

func TestFinalLatencyIsOfTheLastSuccess(t *testing.T) {
	r := faulty().check()
	handled, final := latencyOf(t, &r, "handled", "all"), latencyOf(t, &r, "final", "all")
	if handled.Count != 4 || final.Count != 4 || mean(t, final) <= mean(t, handled) {
		t.Errorf("handled %d, mean %g; final %d, mean %g; want 4 and 4, the second success later", handled.Count, mean(t, handled), final.Count, mean(t, final))
	}
}

func mean(t *testing.T, l Latency) float64 {
	t.Helper()
	h, err := hdr.Decode([]byte(l.HDR))
	if err != nil {
		t.Fatal(err)
	}
	return h.Mean()
}

func TestLag(t *testing.T) {
	depth := func(t *tale, ready, inFlight, delayed int64) *tale {
		return t.with(history.Event{Kind: history.DepthQueue, Place: t.place("orders"), Seq: uint64(ready), Off: inFlight, Until: delayed})
	}
	s := depth(tell(fifo).publish(ids(0, 3)...), 4, 0, -1)
	s = depth(s.deliver("w0", ids(0, 1)...), 2, 2, -1)
	s.at(5000).handle("w0", ids(0, 1)...).ack("w0", ids(0, 1)...)
	r := depth(s, 2, 0, -1).undrained("limit").check()
	for name, want := range map[string]int64{"lag.ready": 2, "lag.ready.max": 4, "lag.total": 2, "lag.total.max": 4, "lag.messages": 2, "lag.messages.max": 4, "lag.skewed": 0} {
		if r.Counts[name] != want {
			t.Errorf("%s = %d, want %d", name, r.Counts[name], want)
		}
	}
	if got := r.Counts["lag.time_ns"]; got < 4900*millisecond || got > 5100*millisecond {
		t.Errorf("time lag %d, want about 5 s: p0/2 is waited for", got)
	}
}

func TestLagIsNeverNegative(t *testing.T) {
	depth := func(t *tale, committed, end, stable int64) *tale {
		return t.with(history.Event{Kind: history.DepthLog, Place: t.place("orders|"), Seq: uint64(committed), Off: end, Until: stable})
	}
	r := depth(depth(tell(kafka), 10, 30, 12), 25, 20, -1).check()
	for name, want := range map[string]int64{"lag.end": 0, "lag.end.max": 20, "lag.stable": 2, "lag.skewed": 1} {
		if r.Counts[name] != want {
			t.Errorf("%s = %d, want %d", name, r.Counts[name], want)
		}
	}
}

func TestTimelineHasAtMost300Columns(t *testing.T) {
	s := schedule(40_000, time.Millisecond, func(due int64) int64 { return due + 10 })
	r := s.check()
	line := r.Timeline
	if len(line.Series) == 0 || len(line.Series[0].Values) > 300 || len(line.Series[0].Values) < 100 {
		t.Fatalf("%d columns of %d ns", len(line.Series[0].Values), line.StepNs)
	}
	for _, series := range line.Series {
		if series.Name == "acked" && (series.Total != 40_000 || *series.Values[5] != 1000) {
			t.Errorf("acked: total %d, column 5 %d/s; want 40,000 and 1,000/s", series.Total, *series.Values[5])
		}
	}
}

func TestTimelineKeepsTheMaximum(t *testing.T) {
	line := &timeline{}
	line.Begin(newCase(&tell(fifo).header, func(history.Table, uint32) string { return "" }, new(memory)))
	line.at(3 * millisecond).lag = 7
	line.at(4 * millisecond).lag = 2
	line.at(int64(time.Hour))
	if line.columns[0].lag != 7 || len(line.columns) > maxColumns {
		t.Errorf("lag %d in %d columns", line.columns[0].lag, len(line.columns))
	}
}

func TestBucketsBoundAQuantile(t *testing.T) {
	var b buckets
	for ns := range int64(100_000) {
		b.record(ns)
		if bucket := bucketOf(ns); top(bucket) < ns || bucket > 0 && top(bucket-1) >= ns && ns >= 8 {
			t.Fatalf("%d is in bucket %d, up to %d", ns, bucket, top(bucket))
		}
	}
	for _, share := range []float64{0.5, 0.99, 1} {
		exact := int64(share*100_000) - 1
		if got := b.quantile(share); got < exact || got > exact+exact/4+1 {
			t.Errorf("quantile(%g) = %d, exact %d", share, got, exact)
		}
	}
}

func TestFaultWindow(t *testing.T) {
	r := faulty().check()
	if len(r.Faults) != 1 {
		t.Fatalf("%d faults", len(r.Faults))
	}
	f := r.Faults[0]
	if f.Name != "kill" || f.Target != "billing/0" || f.Unsettled != 2 || f.Redelivered != 2 || f.EffectTwice != 1 || f.Lost != 0 {
		t.Errorf("%+v; want 2 unsettled, 2 redelivered, 1 effect twice", f)
	}
	if f.FirstSuccessNs <= 0 || f.SilenceNs < f.FirstSuccessNs || f.HealedNs <= f.ActiveNs || f.ActiveNs <= f.RequestedNs {
		t.Errorf("times: %+v", f)
	}
	for _, a := range r.Anomalies {
		if a.Name == "redelivered" && a.Examples[0].Fault != "f1" {
			t.Errorf("fault %q, want f1", a.Examples[0].Fault)
		}
	}
}

func TestFaultThatNeverCame(t *testing.T) {
	s := tell(fifo).publish("p0/0").work("w0", "p0/0").drained()
	s.header.Faults = []history.Fault{{Name: "kill", Target: "billing/0"}}
	r := s.check()
	if len(r.Faults) != 1 || r.Faults[0].ActiveNs != never || r.Faults[0].Unsettled != never {
		t.Errorf("%+v; want one that was never active", r.Faults)
	}
}

func TestShares(t *testing.T) {
	s := tell(kafka).publish(ids(0, 5)...).deliver("billing/0-1-1", ids(0, 3)...).handle("billing/0-1-1", ids(0, 3)...).ack("billing/0-1-1", "p0/3")
	r := s.closed("billing/0-1-1", "").assign("billing/0-2-1", 4, "committed").work("billing/0-2-1", "p0/4").revoke("billing/0-2-1").
		assign("billing/1-1-1", 5, "committed").work("billing/1-1-1", "p0/5").drained().check()
	got := map[string]int64{}
	for _, share := range r.Shares {
		got[share.Of+" "+share.Name] = share.Handled
		if share.Name == "billing/0" && share.PeakInFlight != 4 {
			t.Errorf("billing/0 held %d at most, want 4", share.PeakInFlight)
		}
	}
	for name, want := range map[string]int64{"worker billing/0": 5, "worker billing/1": 1, "partition orders/0": 6, "producer p0": 6} {
		if got[name] != want {
			t.Errorf("%s: %d, want %d (%v)", name, got[name], want, got)
		}
	}
}

func TestTwoGroupsHaveTwoLedgers(t *testing.T) {
	s := tell(kafka)
	s.header.Subscriptions = append(s.header.Subscriptions, history.Subscription{Name: "audit", From: "orders", Published: []string{"orders"}, Effect: "none"})
	s.publish(ids(0, 1)...).work("w0", ids(0, 1)...)
	second := s.ref(history.Sessions, "a0|h-1-audit|orders|7")
	s.with(history.Event{Kind: history.Delivery, Session: second, Op: 1, Place: s.place("orders"), Off: 0})
	s.with(history.Event{Kind: history.HandlerStart, Session: second, Op: 1}).with(history.Event{Kind: history.HandlerEnd, Session: second, Op: 1})
	r := s.drained().check()
	wantFindings(t, &r, "lost-undelivered p0/1")
	totals := map[string]int64{}
	for _, b := range r.Ledger {
		totals[b.Title+" "+b.Subscription] = b.Total
	}
	for name, want := range map[string]int64{"Published ": 2, "Acked ids billing": 2, "Acked ids audit": 2, "Deliveries audit": 1} {
		if totals[name] != want {
			t.Errorf("%s: %d, want %d", name, totals[name], want)
		}
	}
}

func TestTiesPutCausesFirst(t *testing.T) {
	s := tell(rabbitmq).publish("p0/0").deliver("w1", "p0/0").fail("w1", "p0/0").nack("w1", "p0/0").deliver("w0", "p0/0").flagged().start("w0", "p0/0")
	s.end("w0", "p0/0").ack("w0", "p0/0").drained()
	for i := range s.events { // the requeue and the delivery that it caused are of one instant
		e := &s.events[i]
		if e.Kind == history.SettleStart && e.Verb == history.VerbRequeue {
			e.Task = 2
			e.T += millisecond * 2
		}
		if e.Kind == history.SettleAnswer && e.Verb == history.VerbRequeue {
			e.Task = 2
			e.T += millisecond
		}
	}
	// The merged order of an instant is that of the tasks: w0's is first.
	settle := -1
	for i := range s.events {
		if s.events[i].Verb == history.VerbRequeue && settle < 0 {
			settle = i
		}
	}
	s.events[settle], s.events[settle+2] = s.events[settle+2], s.events[settle]
	r := s.check()
	if got := causesOf(&r, "redelivered"); got != "p0/0 requeued" {
		t.Errorf("redelivered %q, want %q", got, "p0/0 requeued")
	}
}

// recorded is the tale as a run that can be read more than once.
func (t *tale) recorded(tb testing.TB) *history.Run {
	tb.Helper()
	rec := history.NewMemory(t.header)
	segment, err := rec.Segment("all", history.Owned)
	if err != nil {
		tb.Fatal(err)
	}
	for table := range history.Tables {
		for _, text := range t.names[table][1:] {
			rec.Intern(table, text)
		}
	}
	for i := range t.events {
		segment.Append(&t.events[i])
	}
	if err := rec.Close(); err != nil {
		tb.Fatal(err)
	}
	return rec.Run()
}

func TestLivesAreTold(t *testing.T) {
	s := faulty()
	run := s.recorded(t)
	r, err := Check(run)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Lives) != 2 || r.Lives[0].Title != "p0/1: effect-duplicates, session died" {
		t.Fatalf("lives %+v", r.Lives)
	}
	var told []string
	for _, step := range r.Lives[0].Steps {
		told = append(told, step.Text)
	}
	want := []string{"sent to orders, attempt 1", "publish ok", "received from orders", "handler started", "effect", "handler ended",
		"session died while it held the message", "kill billing/0 begins", "kill billing/0 is healed", "received from orders, flagged; again: session died", "handler started", "effect", "handler ended",
		"ack asked for", "ack accepted-only", "billing: done"}
	if strings.Join(told, "|") != strings.Join(want, "|") {
		t.Errorf("told %q\nwant %q", told, want)
	}
	again, err := Explain(run, id("p0/1"))
	if err != nil || len(again.Steps) != len(want) {
		t.Errorf("explained in %d steps, %v", len(again.Steps), err)
	}
}
