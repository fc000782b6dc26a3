// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

// steadily publishes a message every 10 ms for 20 s; nothing is handled from 5 s to 7 s,
// and the backlog is worked off at twice the rate after that.
func steadily() *tale {
	const ms, s = millisecond, 1000 * millisecond
	t := tell(fifo)
	done := 0
	work := func(until int) {
		for ; done < until; done++ {
			t.work("w0", ids(done, done)...)
		}
	}
	for i := range 2000 {
		now := int64(i) * 10 * ms
		t.at(now/ms + 1).publish(ids(i, i)...)
		switch {
		case now < 5*s:
			work(i + 1)
		case now < 7*s:
			if now == 5*s {
				t.fault(history.FaultRequested, 1).fault(history.FaultActive, 1)
			}
		default:
			if now == 7*s {
				t.fault(history.FaultHealed, 1)
			}
			work(min(done+2, i+1))
		}
	}
	return t.drained()
}

func TestRecovery(t *testing.T) {
	const s = 1000 * millisecond
	r := steadily().check()
	if len(r.Faults) != 1 {
		t.Fatalf("%d faults", len(r.Faults))
	}
	f := r.Faults[0]
	between := func(what string, got, low, high int64) {
		if got < low || got > high {
			t.Errorf("%s = %d, want %d to %d", what, got, low, high)
		}
	}
	between("rate before", f.RateBefore, 95, 105)
	between("silence", f.SilenceNs, 19*s/10, 21*s/10)
	between("first success", f.FirstSuccessNs, 19*s/10, 21*s/10)
	between("first success after the heal", f.BackNs, 0, s/50)
	between("95 % of the rate", f.RateBackNs, 9*s/10, 12*s/10)
	between("lag peak", f.LagPeak, 190, 210)
	between("worked off", f.DrainNs, 18*s/10, 23*s/10)
	between("noticed", f.DetectionNs, never, never)
	between("recovered", f.RecoveredNs, 9*s, 11*s)
	if f.HealedNs < 7*s || f.RecoveredNs < f.HealedNs {
		t.Errorf("healed at %d, recovered at %d", f.HealedNs, f.RecoveredNs)
	}
}

// TestRecoveryCard: what a fault did to single messages is counted inside its window.
func TestRecoveryCard(t *testing.T) {
	s := tell(fifo).publish(ids(0, 3)...).work("w0", "p0/0").
		fault(history.FaultRequested, 1).fault(history.FaultActive, 1).
		send("p0/9").answer("p0/9", contract.Unknown).
		work("w0", "p0/2").work("w0", "p0/1").work("w1", "p0/1").
		fault(history.FaultHealed, 1).work("w0", "p0/3").drained()
	r := s.check()
	f := r.Faults[0]
	active, healed := f.ActiveNs, f.HealedNs
	at := func(kind history.Kind, text string) int64 {
		for i := range s.events {
			if e := &s.events[i]; e.Kind == kind && e.ID() == id(text) && e.T > active {
				return e.T
			}
		}
		t.Fatalf("no %v of %s", kind, text)
		return 0
	}
	for _, row := range []struct {
		what      string
		got, want int64
	}{
		{"noticed", f.DetectionNs, at(history.PublishAnswer, "p0/9") - active},
		{"first success", f.FirstSuccessNs, at(history.EffectResult, "p0/2") - active},
		{"first success after the heal", f.BackNs, at(history.EffectResult, "p0/3") - healed},
		{"unexplained", f.Unexplained, 1},
		{"effects twice", f.EffectTwice, 1},
		{"reordered", f.Reordered, 0}, // no keys
		{"lost", f.Lost, 0},
	} {
		if row.got != row.want {
			t.Errorf("%s is %d, want %d", row.what, row.got, row.want)
		}
	}
}

func TestWorkerThatVanished(t *testing.T) {
	const worker = "billing/0"
	s := tell(rabbitmq).publish("p0/0").deliver(worker, "p0/0").start(worker, "p0/0")
	s.with(history.Event{Kind: history.WorkerEnd, Flags: history.Crashed, Text: s.ref(history.Texts, worker)})
	r := s.redelivered("w1", "p0/0").drained().check()
	wantFindings(t, &r, "redelivered p0/0")
	if got := causesOf(&r, "redelivered"); got != "p0/0 session died" {
		t.Errorf("cause %q", got)
	}
}

func TestComparisons(t *testing.T) {
	for _, row := range []struct {
		op   string
		want [3]bool // of 1, 2, 3 against 2
	}{
		{"==", [3]bool{false, true, false}}, {"!=", [3]bool{true, false, true}}, {"<", [3]bool{true, false, false}},
		{"<=", [3]bool{true, true, false}}, {">", [3]bool{false, false, true}}, {">=", [3]bool{false, true, true}}, {"?", [3]bool{}},
	} {
		for i, want := range row.want {
			if got := compare(float64(i+1), row.op, 2); got != want {
				t.Errorf("%d %s 2 is %v", i+1, row.op, got)
			}
		}
	}
}

func TestNumbersAndTimesAsShown(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -12: "-12"} {
		if got := number(n); got != want {
			t.Errorf("number(%d) = %q, want %q", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{5: "5 ns", 1500: "1.50 µs", 19600 * time.Microsecond: "19.6 ms", 812 * time.Millisecond: "812 ms", 2040 * time.Millisecond: "2.04 s", 90 * time.Second: "90.0 s"} {
		if got := span(int64(d)); got != want {
			t.Errorf("span(%d) = %q, want %q", d, got, want)
		}
	}
}

func TestUnbalancedLedgerIsAViolation(t *testing.T) {
	b := &bench{result: &Result{Ledger: []Balance{balance("Acked ids", "billing", "Acked", 3, Line{"Done", 2, "good"})}}}
	b.balanced()
	if len(b.result.Claims) != 1 || b.result.Claims[0].Verdict != contract.Violated || b.result.Claims[0].Measured != "1" {
		t.Errorf("claims %+v", b.result.Claims)
	}
}
