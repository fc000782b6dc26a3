// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

// faulty is a run with a crash at a fault: what was done and not settled is done again.
func faulty() *tale {
	t := tell(rabbitmq).publish(ids(0, 3)...).work("w0", "p0/0").deliver("w0", "p0/1", "p0/2").handle("w0", "p0/1")
	t.header.Faults = []history.Fault{{Name: "kill", Target: "billing/0"}}
	t.fault(history.FaultRequested, 1).crash("w0").fault(history.FaultActive, 1).fault(history.FaultHealed, 1)
	return t.redelivered("w1", "p0/1").redelivered("w1", "p0/2").work("w1", "p0/3").drained()
}

// redelivered works off a message that was delivered before.
func (t *tale) redelivered(worker, text string) *tale {
	return t.deliver(worker, text).flagged().handle(worker, text).ack(worker, text)
}

func verdictOf(r *Result, name string) contract.Verdict {
	for i := range r.Claims {
		if r.Claims[i].Name == name {
			return r.Claims[i].Verdict
		}
	}
	return contract.Unjudged
}

func TestClaims(t *testing.T) {
	ordered := func() *tale { return tell(fifo).keyed("k", ids(0, 2)...) }
	for _, row := range []struct {
		name  string
		tale  *tale
		claim contract.Claim
		want  contract.Verdict
	}{
		{"redelivered with a cause", faulty(), contract.AtLeastOnce, contract.Pass},
		{"an effect twice", faulty(), contract.AtMostOnce, contract.Violated},
		{"an effect twice", faulty(), contract.EffectivelyOnce, contract.Violated},
		{"nobody overlapped", faulty(), contract.SingleHolder, contract.Pass},
		{"drained", faulty(), contract.Drained, contract.Pass},
		{"no dead letter to judge", faulty(), contract.DeadLetterJustified, contract.Inconclusive},
		{"competing consumers on a queue", faulty(), contract.OrderPerKey, contract.NotApplicable},
		{"no order promised", tell(sqs).publish("p0/0").work("w0", "p0/0").drained(), contract.OrderPerKey, contract.NotApplicable},
		{"in order", ordered().work("w0", ids(0, 2)...).drained(), contract.OrderPerKey, contract.Pass},
		{"out of order", ordered().work("w0", "p0/0", "p0/2", "p0/1").drained(), contract.OrderPerKey, contract.Violated},
		{"no two of a key", tell(fifo).keyed("k", "p0/0").work("w0", "p0/0").drained(), contract.OrderPerKey, contract.Inconclusive},
		{"lost", tell(fifo).publish(ids(0, 1)...).work("w0", "p0/0").drained(), contract.AtLeastOnce, contract.Violated},
		{"lost is allowed", tell(fifo).publish(ids(0, 1)...).work("w0", "p0/0").drained(), contract.AtMostOnce, contract.Pass},
		{"undrained is not lost", tell(fifo).publish(ids(0, 1)...).work("w0", "p0/0").undrained("limit"), contract.AtLeastOnce, contract.Inconclusive},
		{"everything done, the queue goes on", tell(fifo).publish("p0/0").work("w0", "p0/0").undrained("limit"), contract.AtLeastOnce, contract.Pass},
		{"everything done, the queue goes on", tell(fifo).publish("p0/0").work("w0", "p0/0").undrained("limit"), contract.EffectivelyOnce, contract.Inconclusive},
		{"undrained", tell(fifo).publish(ids(0, 1)...).work("w0", "p0/0").undrained("limit"), contract.Drained, contract.Violated},
		{"no drain recorded", tell(fifo).publish(ids(0, 1)...).work("w0", "p0/0"), contract.Drained, contract.Inconclusive},
		{"unexplained", tell(fifo).publish("p0/0").work("w0", "p0/0").work("w0", "p0/0").drained(), contract.AtLeastOnce, contract.Violated},
		{"allowed by the contract", tell(sqs).publish("p0/0").work("w0", "p0/0").work("w0", "p0/0").drained(), contract.AtLeastOnce, contract.Pass},
		{"nothing was published", tell(fifo).drained(), contract.AtLeastOnce, contract.Inconclusive},
		{"nothing was done", tell(fifo).publish("p0/0").deliver("w0", "p0/0").drained(), contract.AtMostOnce, contract.Inconclusive},
	} {
		t.Run(string(row.claim)+" "+row.name, func(t *testing.T) {
			r := row.tale.claims(row.claim).check()
			if got := verdictOf(&r, string(row.claim)); got != row.want {
				t.Errorf("%v, want %v: %s %+v", got, row.want, r.Sentence, r.Missing)
			}
			if r.Verdict == contract.Inconclusive && len(r.Missing) == 0 {
				t.Error("inconclusive without a reason")
			}
		})
	}
}

// keyed publishes messages of one key.
func (t *tale) keyed(key string, all ...string) *tale {
	t.key = t.ref(history.Keys, key)
	return t.publish(all...)
}

// TestPassNeedsTeeth breaks one condition of a passing run at a time.
func TestPassNeedsTeeth(t *testing.T) {
	for _, row := range []struct {
		name string
		want string // of what is missing
		tale *tale
	}{
		{"whole", "", faulty()},
		{"fault never active", "Faults were active", faulty().without(history.FaultActive)},
		{"fault not recorded at all", "Faults were active", faulty().without(history.FaultActive, history.FaultRequested, history.FaultHealed)},
		{"interrupted", "Run ended by itself", faulty().with(history.Event{Kind: history.Interrupted})},
		{"events dropped", "Recorder kept up", faulty().with(history.Event{Kind: history.Dropped, N: 3})},
		{"load not offered", "Load was offered", faulty().planned(100)},
		{"too much unknown", "Little is unknown", faulty().send("p0/4").answer("p0/4", contract.Unknown)},
		{"not drained", "Drain finished", faulty().publish("p0/4").undrained("limit")},
		{"nothing at risk", "Work was in flight when they struck", idleFault()},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := row.tale.claims(contract.AtLeastOnce).check()
			if row.want == "" {
				if r.Verdict != contract.Pass || r.Missing != nil {
					t.Fatalf("%v, missing %+v; want a pass", r.Verdict, r.Missing)
				}
				return
			}
			if r.Verdict != contract.Inconclusive || len(r.Missing) == 0 || r.Missing[0].Check != row.want {
				t.Errorf("%v, missing %+v; want inconclusive for %q", r.Verdict, r.Missing, row.want)
			}
		})
	}
}

func (t *tale) without(kinds ...history.Kind) *tale {
	set, kept := history.Only(kinds...), t.events[:0]
	for _, e := range t.events {
		if !set.Has(e.Kind) {
			kept = append(kept, e)
		}
	}
	t.events = kept
	return t
}

func (t *tale) with(e history.Event) *tale {
	t.add(e)
	return t
}

func (t *tale) planned(n int) *tale {
	t.header.Producers[0].Count = n
	return t
}

// idleFault strikes when everything was done.
func idleFault() *tale {
	t := tell(rabbitmq).publish("p0/0").work("w0", "p0/0")
	return t.fault(history.FaultRequested, 1).crash("w0").fault(history.FaultActive, 1).fault(history.FaultHealed, 1).
		publish("p0/1").work("w1", "p0/1").drained()
}

func TestViolationStandsInAWeakRun(t *testing.T) {
	r := faulty().with(history.Event{Kind: history.Dropped, N: 1}).claims(contract.AtMostOnce, contract.AtLeastOnce).check()
	if got := verdictOf(&r, "at-most-once"); got != contract.Violated {
		t.Errorf("at-most-once: %v, want violated", got)
	}
	if got := verdictOf(&r, "at-least-once"); got != contract.Inconclusive {
		t.Errorf("at-least-once: %v, want inconclusive", got)
	}
	if r.Verdict != contract.Violated || r.Trust.HistoryComplete {
		t.Errorf("verdict %v, complete %v; want violated, false", r.Verdict, r.Trust.HistoryComplete)
	}
	if strings.Contains(strings.ToLower(r.Sentence), "nothing was lost") {
		t.Errorf("%q: the missing part may tell of a loss", r.Sentence)
	}
}

func TestWhatNobodyClaimedBreaksARunToo(t *testing.T) {
	r := tell(fifo).send("p0/0").answer("p0/0", contract.Rejected).work("w0", "p0/0").drained().claims(contract.Drained).check()
	if r.Verdict != contract.Violated || verdictOf(&r, "integrity") != contract.Violated {
		t.Errorf("a phantom: %v, integrity %v", r.Verdict, verdictOf(&r, "integrity"))
	}
	r = tell(fifo).publish("p0/0").work("w0", "p0/0").work("w0", "p0/0").drained().claims(contract.Drained).check()
	if verdictOf(&r, "contract") != contract.Violated {
		t.Error("a duplicate after an ack does not break the contract of a FIFO queue")
	}
}

func exactly(metric string, n int64) contract.Expectation {
	return contract.Expectation{Metric: metric, Min: &n, Max: &n}
}

func atLeast(metric string, n int64) contract.Expectation {
	return contract.Expectation{Metric: metric, Min: &n}
}

func TestExpectations(t *testing.T) {
	profile := func(e contract.Expectation, profile string) contract.Expectation { e.Profile = profile; return e }
	for _, row := range []struct {
		name       string
		expect     []contract.Expectation
		asExpected bool
		code       int
	}{
		{"none, and a violated claim", nil, false, ExitViolated},
		{"foreseen", []contract.Expectation{atLeast("effect-duplicates", 1)}, true, ExitPass},
		{"foreseen exactly", []contract.Expectation{exactly("effect-duplicates", 1)}, true, ExitPass},
		{"foreseen by id", []contract.Expectation{{Metric: "effect-duplicates", IDs: []string{"p0/1"}}}, true, ExitPass},
		{"another id", []contract.Expectation{{Metric: "effect-duplicates", IDs: []string{"p0/2"}}}, false, ExitViolated},
		{"foreseen by verdict", []contract.Expectation{{Metric: "verdict.at-most-once", Verdict: contract.Violated}}, true, ExitPass},
		{"met, and does not foresee it", []contract.Expectation{exactly("lost", 0)}, false, ExitViolated},
		{"foreseen and another missed", []contract.Expectation{atLeast("effect-duplicates", 1), atLeast("lost", 1)}, false, ExitViolated},
		{"too many", []contract.Expectation{exactly("effect-duplicates", 0)}, false, ExitViolated},
		{"for another profile", []contract.Expectation{profile(exactly("effect-duplicates", 0), "kafka"), atLeast("effect-duplicates", 1)}, true, ExitPass},
		{"of what was not measured", []contract.Expectation{atLeast("effect-duplicates", 1), atLeast("no-such-count", 1)}, false, ExitViolated},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := faulty().claims(contract.AtMostOnce)
			s.header.Expectations = row.expect
			r := s.check()
			if r.AsExpected != row.asExpected || ExitCode(r) != row.code {
				t.Errorf("as expected %v, exit %d; want %v, %d: %+v", r.AsExpected, ExitCode(r), row.asExpected, row.code, r.Expectations)
			}
		})
	}
}

func TestEverythingThatBreaksAClaimMustBeForeseen(t *testing.T) {
	both := func(expect ...contract.Expectation) Result { // one lost, one delivered again for no reason
		s := tell(fifo).publish(ids(0, 1)...).work("w0", "p0/0").work("w0", "p0/0").drained().claims(contract.AtLeastOnce)
		s.header.Expectations = expect
		return s.check()
	}
	if r := both(exactly("lost", 1)); r.AsExpected {
		t.Error("the duplicate was not foreseen")
	}
	if r := both(exactly("lost", 1), exactly("duplicate-after-ack", 1)); !r.AsExpected || ExitCode(r) != ExitPass {
		t.Errorf("both were foreseen: %+v", r.Claims)
	}
}

func TestExitCodes(t *testing.T) {
	of := func(v contract.Verdict) Result { return Result{Verdict: v} }
	for _, row := range []struct {
		results []Result
		want    int
	}{
		{nil, ExitPass},
		{[]Result{of(contract.Pass), of(contract.NotApplicable)}, ExitPass},
		{[]Result{of(contract.Pass), of(contract.Inconclusive)}, ExitInconclusive},
		{[]Result{of(contract.Inconclusive), of(contract.Violated), of(contract.Pass)}, ExitViolated},
		{[]Result{of(contract.Unjudged)}, ExitInconclusive},
		{[]Result{{Verdict: contract.Violated, AsExpected: true}}, ExitPass},
	} {
		if got := ExitCode(row.results...); got != row.want {
			t.Errorf("ExitCode(%v) = %d, want %d", row.results, got, row.want)
		}
	}
}

func TestThresholds(t *testing.T) {
	for _, row := range []struct {
		threshold contract.Threshold
		want      contract.Verdict
	}{
		{contract.Threshold{Metric: "redelivered", Op: "<=", Limit: 2, Unit: "messages"}, contract.Pass},
		{contract.Threshold{Metric: "redelivered", Op: "<", Limit: 2, Unit: "messages"}, contract.Violated},
		{contract.Threshold{Metric: "redelivered.session-died", Op: "<=", Limit: 2, Unit: "messages"}, contract.Pass},
		{contract.Threshold{Metric: "redelivered.session-died", Op: "<=", Limit: 1, Unit: "messages"}, contract.Violated},
		{contract.Threshold{Metric: "effect-duplicates.session-died", Op: "<=", Limit: 0, Unit: "messages"}, contract.Violated},
		{contract.Threshold{Metric: "redelivered.lease-expired", Op: "<=", Limit: 0, Unit: "messages"}, contract.Pass},
		{contract.Threshold{Metric: "redelivered.lease-expiry", Op: "<=", Limit: 0, Unit: "messages"}, contract.Inconclusive},
		{contract.Threshold{Metric: "latency.receive.max", Op: "<", Limit: float64(time.Second), Unit: "ns"}, contract.Pass},
		{contract.Threshold{Metric: "latency.receive.p50", Op: "<", Limit: 1, Unit: "ns"}, contract.Violated},
		{contract.Threshold{Metric: "latency.nothing.p50", Op: "<", Limit: 1, Unit: "ns"}, contract.Inconclusive},
	} {
		s := faulty()
		s.header.Thresholds = []contract.Threshold{row.threshold}
		r := s.check()
		if r.Verdict != row.want {
			t.Errorf("%s %s %g: %v, want %v: %s", row.threshold.Metric, row.threshold.Op, row.threshold.Limit, r.Verdict, row.want, r.Sentence)
		}
	}
}

func TestSentences(t *testing.T) {
	for _, row := range []struct {
		tale *tale
		want string
	}{
		{faulty().claims(contract.AtLeastOnce), "No acked message was lost (0 of 4); 2 redeliveries have a cause (session died 2); 1 effect ran twice, which the claim allows."},
		{faulty().claims(contract.AtMostOnce), "1 effect ran twice (session died 1), first p0/1. Nothing was lost."},
		{tell(fifo).publish(ids(0, 1)...).work("w0", "p0/0").drained().claims(contract.AtLeastOnce), "1 acked message is lost, never delivered, first p0/1. No effect ran twice."},
		{tell(fifo).publish(ids(0, 1)...).work("w0", "p0/0").undrained("limit").claims(contract.AtLeastOnce),
			"The drain ended before 1 message had come to an end: undrained, neither lost nor done. Nothing was lost and no effect ran twice."},
	} {
		if r := row.tale.check(); r.Sentence != row.want {
			t.Errorf("%q\nwant %q", r.Sentence, row.want)
		}
	}
}

func TestInconclusiveSaysWhatWouldDecide(t *testing.T) {
	s := faulty().publish("p0/4").undrained("limit").claims(contract.AtLeastOnce)
	s.header.Command = "harness run crash-mid-batch --seed 7"
	r := s.check()
	for _, m := range r.Missing {
		if m.Found == "" || m.Needed == "" || !strings.Contains(m.Decide, "harness run crash-mid-batch --seed 7") {
			t.Errorf("not helpful: %+v", m)
		}
	}
}

// TestAKillTakesWhatWasNotCommitted: on a log it strikes work that was done and is not
// committed, though nothing is stored that nobody has read and no handler is at work.
func TestAKillTakesWhatWasNotCommitted(t *testing.T) {
	for committed, want := range map[bool]contract.Verdict{false: contract.Pass, true: contract.Inconclusive} {
		told := tell(kafka).claims(contract.AtLeastOnce).publish(ids(0, 1)...).assign("w0", 0, "earliest").work("w0", "p0/0").deliver("w0", "p0/1").handle("w0", "p0/1")
		if committed {
			told.ack("w0", "p0/1")
		}
		told.header.Faults = []history.Fault{{Name: "kill", Target: "billing/0"}}
		told.fault(history.FaultRequested, 1).fault(history.FaultActive, 1).crash("w0").fault(history.FaultHealed, 1)
		if committed {
			told.assign("w1", 2, "committed")
		} else {
			told.assign("w1", 1, "committed").work("w1", "p0/1")
		}
		r := told.drained().check()
		if got := verdictOf(&r, "at-least-once"); got != want {
			t.Errorf("committed %v: %v, want %v: %s", committed, got, want, r.Sentence)
		}
	}
}
