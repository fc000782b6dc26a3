// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"time"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

const (
	ms  = int64(time.Millisecond)
	sec = int64(time.Second)
)

// sample is a small suite with every kind of cell: pass, violated, violated as expected,
// inconclusive, not as expected, not applicable, and one that nobody ran.
func sample() *checkers.Results {
	return &checkers.Results{
		Schema: checkers.Schema, Tool: "0.1.0", Command: "harness run --seed 7",
		Started: time.Date(2026, 11, 28, 13, 40, 2, 0, time.UTC),
		Runs: []checkers.Result{
			passed("steady", "", "inmem:kafka"), passed("steady", "", "kafka"), violated(), foreseen(), inconclusive(), surprising(),
		},
		NotRun: []checkers.NotRun{
			{Workload: "slow-handler", Engine: "inmem:kafka", Verdict: contract.NotApplicable, Reason: "kafka-4.1-sarama has no lease: sarama has no limit between polls"},
			{Workload: "steady", Engine: "rabbitmq", Verdict: contract.Inconclusive, Reason: "the broker at 127.0.0.1:5672 did not answer"},
		},
	}
}

func base(workload, variant, engine string) checkers.Result {
	name := workload + "." + engine
	return checkers.Result{
		Run: name, Dir: name, Workload: workload, Variant: variant, About: "What " + workload + " shows.", Engine: engine,
		Verdict: contract.Pass, AsExpected: true, Sentence: "No acked message was lost (0 of 1,000).",
		Counts:   map[string]int64{"acked": 1000, "deliveries": 1000, "effects": 1000, "lost": 0, "redelivered": 0, "effect-duplicates": 0, "stored-twice": 0, "overlapping": 0},
		Phases:   []checkers.Span{{Name: "load", EndNs: sec}, {Name: "drain", StartNs: sec, EndNs: 3 * sec}},
		Claims:   []checkers.ClaimResult{{Name: "at-least-once", Verdict: contract.Pass, Limit: "0 lost", Measured: "0", Sentence: "0 lost among 1,000 acked messages."}},
		Ledger:   []checkers.Balance{{Title: "Published", TotalLabel: "Ids attempted", Total: 1000, Lines: []checkers.Line{{Label: "Acked", Count: 1000, Kind: "good"}, {Label: "Rejected", Count: 0, Kind: "good"}}}},
		Timeline: rates(),
		Latency:  []checkers.Latency{histogram("publish", "all", 2*ms), histogram("handled", "all", 20*ms)},
		Shares:   []checkers.Share{{Of: "worker", Name: "billing/0", Handled: 750, P99Ns: 9 * ms, PeakInFlight: 100}, {Of: "worker", Name: "billing/1", Handled: 250, P99Ns: 8 * ms}},
		Trust:    checkers.Trust{Events: 9533, Clock: "virtual", OfferedMsgs: 1000, PlannedMsgs: 1000, HistoryComplete: true, Drained: true},
		Profile:  contract.Profile{Name: "kafka-4.1-sarama", Product: productOf(engine), Version: "4.1", Client: "sarama", Configuration: "range", Model: contract.Log, Nodes: 1, LeftOut: map[string]string{"replication": "one node"}},
		Fidelity: "virtual", Seed: 7, Host: "linux/amd64", Started: time.Date(2026, 11, 28, 13, 40, 3, 0, time.UTC),
		Settings: map[string]string{"acks": "all", "max-wait": "50ms"}, Spec: "name: " + workload + "\n", Command: "harness run " + workload + " --on " + engine + " --seed 7",
	}
}

func passed(workload, variant, engine string) checkers.Result { return base(workload, variant, engine) }

// violated has a fault, duplicates, findings and a story.
func violated() checkers.Result {
	r := base("crash", "after-batch", "kafka")
	r.Verdict, r.AsExpected = contract.Violated, false
	r.Sentence = "3 effects ran twice against a limit of 0 (session died 3), first p0/17. Nothing was lost."
	r.Claims = []checkers.ClaimResult{
		{Name: "effectively-once", Verdict: contract.Violated, Limit: "0 effects twice", Measured: "3", Sentence: "3 effects ran twice.", Teeth: "50 unsettled when f1 struck", IDs: ids(17, 7)},
		{Name: "order-per-key", Verdict: contract.NotApplicable, Limit: "0 out of order", Sentence: "The broker promises no order."},
	}
	r.Counts["redelivered"], r.Counts["effect-duplicates"] = 50, 3
	r.Faults = []checkers.FaultWindow{
		{Number: 1, Name: "kill", Target: "billing/0", Text: "kill billing/0 mid-batch", RequestedNs: 400 * ms, ActiveNs: 410 * ms, HealedNs: 900 * ms, RecoveredNs: 2 * sec,
			DetectionNs: 30 * ms, FirstSuccessNs: 40 * ms, BackNs: 15 * ms, RateBackNs: 1100 * ms, SilenceNs: 90 * ms, RateBefore: 1000, LagPeak: 300, DrainNs: 1400 * ms,
			Unsettled: 50, Redelivered: 50, EffectTwice: 3},
		{Number: 2, Name: "pause", Target: "broker", RequestedNs: 2500 * ms, ActiveNs: -1, HealedNs: -1, RecoveredNs: -1, DetectionNs: -1, FirstSuccessNs: -1, BackNs: -1, RateBackNs: -1, DrainNs: -1, SilenceNs: -1, RateBefore: -1, LagPeak: -1, Unsettled: -1},
	}
	r.Timeline.Series = append(r.Timeline.Series, checkers.Series{Panel: "duplicates", Name: "session died", Unit: "msgs", Total: 50, Values: values(0, 0, 50, 0, 0, 0)})
	r.Latency = append(r.Latency, histogram("handled", "before", 20*ms), histogram("handled", "during", 900*ms), histogram("handled", "after", 22*ms))
	r.Anomalies = []checkers.Anomaly{
		{Name: "effect-duplicates", Kind: checkers.KindError, Doc: "The effect of one message happened again.", Severity: 2, Count: 3, Examples: findings(3)},
		{Name: "redelivered", Kind: checkers.KindStatistic, Doc: "A stored message was delivered again.", Severity: 4, Count: 50, Examples: findings(32)},
	}
	r.Ledger = append(r.Ledger, checkers.Balance{Title: "Effects", Subscription: "billing", TotalLabel: "Effects", Total: 1003,
		Lines: []checkers.Line{{Label: "First effects", Count: 999, Kind: "good"}, {Label: "Effect again, session died", Count: 3, Kind: "bad"}}, Difference: 1})
	r.Generations = []checkers.Generation{
		{Subscription: "billing", Kind: checkers.KindRebalance, Number: 1, AtNs: 0, Members: 2, Partitions: 4, GapNs: 3 * ms},
		{Subscription: "billing", Kind: checkers.KindRebalance, Number: 2, AtNs: 450 * ms, Members: 1, Partitions: 4, Moved: 2, UncommittedMin: 40, UncommittedMax: 50, Redelivered: 50, Late: 1, GapNs: 90 * ms},
		{Subscription: "billing", Kind: checkers.KindRebalance, Number: 3, AtNs: 910 * ms, Members: 2, Partitions: 4, Moved: 2, UncommittedMin: 20, UncommittedMax: 20, Redelivered: 23, Beyond: 3, GapNs: -1},
	}
	r.Counts["generations"], r.Counts["generations.uncommitted"], r.Counts["generations.redelivered"], r.Counts["redelivered-beyond-uncommitted"] = 3, 70, 73, 3
	r.Lives = []checkers.Life{life(17)}
	return r
}

func foreseen() checkers.Result {
	r := base("poison", "", "kafka")
	r.Verdict, r.Sentence = contract.Violated, "15 messages were still stored when the drain ended."
	r.Claims[0] = checkers.ClaimResult{Name: "drained", Verdict: contract.Violated, Limit: "0 undrained", Measured: "15", Sentence: "15 messages were still stored."}
	r.Expectations = []checkers.ClaimResult{{Name: "undrained", Verdict: contract.Pass, Limit: "at least 1", Measured: "15", Sentence: "undrained is 15, expected at least 1."}}
	return r
}

func inconclusive() checkers.Result {
	r := base("slow-handler", "", "kafka")
	r.Verdict, r.Sentence = contract.Inconclusive, "The load was not offered."
	r.Claims[0].Verdict, r.Claims[0].Sentence = contract.Inconclusive, "The load was not offered."
	r.Missing = []checkers.Missing{{Check: "Load offered", Found: "810 of 1,000", Needed: "at least 99 %", Decide: "lower the rate"}}
	r.Trust.OfferedMsgs, r.Trust.Drained = 810, false
	return r
}

func surprising() checkers.Result {
	r := base("crash", "before-handler", "kafka")
	r.AsExpected = false
	r.Expectations = []checkers.ClaimResult{{Name: "lost", Verdict: contract.Violated, Limit: "1 to 100", Measured: "0", Sentence: "lost is 0, expected 1 to 100."}}
	return r
}

func rates() checkers.Timeline {
	return checkers.Timeline{StepNs: 500 * ms, Series: []checkers.Series{
		{Panel: "rates", Name: "acked", Unit: "msgs/s", Total: 1000, Values: values(1000, 1000, 0, 0, 0, 0)},
		{Panel: "rates", Name: "handled", Unit: "msgs/s", Total: 1000, Values: values(600, 600, 200, 300, 300, 0)},
		{Panel: "lag", Name: "open", Unit: "msgs", Values: values(100, 300, 250, 200, 90, 0)},
		{Panel: "lag", Name: "ready", Unit: "msgs", Values: values(80, -1, 240, -1, 80, 0)},
		{Panel: "latency", Name: "p50", Unit: "ns", Values: values(2*ms, 3*ms, -1, -1, -1, -1)},
		{Panel: "latency", Name: "p99", Unit: "ns", Values: values(20*ms, 900*ms, -1, -1, -1, -1)},
		{Panel: "age", Name: "oldest", Unit: "ns", Values: values(ms, 500*ms, 400*ms, 400*ms, 90*ms, 0)},
		{Panel: "errors", Name: "errors", Unit: "msgs", Values: values(0, 0, 0, 0, 0, 0)},
	}}
}

// values are the columns of a series; -1 was not measured.
func values(all ...int64) []*int64 {
	var out []*int64
	for _, v := range all {
		if v < 0 {
			out = append(out, nil)
			continue
		}
		out = append(out, &v)
	}
	return out
}

func histogram(name, window string, p99 int64) checkers.Latency {
	return checkers.Latency{Name: name, Window: window, Count: 1000, MinNs: p99 / 20, P50Ns: p99 / 4, P90Ns: p99 / 2, P99Ns: p99, P999Ns: 2 * p99, MaxNs: 3 * p99,
		Curve: []checkers.Percentile{{Share: 0, Ns: p99 / 20}, {Share: 0.5, Ns: p99 / 4, Count: 500}, {Share: 0.9, Ns: p99 / 2, Count: 900}, {Share: 0.99, Ns: p99, Count: 990}, {Share: 0.999, Ns: 2 * p99, Count: 999}, {Share: 1, Ns: 3 * p99, Count: 1000}}}
}

func ids(first, n uint64) []msg.ID {
	var all []msg.ID
	for i := range n {
		all = append(all, msg.ID{Seq: first + i})
	}
	return all
}

func findings(n int) []checkers.Example {
	var all []checkers.Example
	for i := range n {
		all = append(all, checkers.Example{ID: msg.ID{Seq: uint64(17 + i)}, Subscription: "billing", AtNs: 600*ms + int64(i)*ms, Cause: "session died", Fault: "f1", Text: "again to billing/1"})
	}
	return all
}

// life is a message whose worker died between its effect and its ack, told twice.
func life(seq uint64) checkers.Life {
	step := func(at int64, lane, kind, text string) checkers.LifeStep {
		return checkers.LifeStep{AtNs: at, Event: at / ms, Lane: lane, Kind: kind, Text: text}
	}
	l := checkers.Life{ID: msg.ID{Seq: seq}, Title: "p0/17: effect-duplicates, session died", Steps: []checkers.LifeStep{
		step(300*ms, "producer", "publish-start", "sent to orders, attempt 1"), step(301*ms, "producer", "publish-answer", "publish ok"),
		step(302*ms, "billing/0", "delivery", "received from orders"), step(303*ms, "billing/0", "handler-start", "handler started"),
		step(305*ms, "billing/0", "effect-result", "effect"), step(306*ms, "billing/0", "handler-end", "handler ended"),
		step(410*ms, "fault", "fault-active", "kill billing/0"), step(410*ms, "billing/0", "session-close", "session died while it held the message"),
		step(450*ms, "billing/1", "delivery", "received from orders; again: session died"), step(451*ms, "billing/1", "handler-start", "handler started"),
		step(453*ms, "billing/1", "effect-result", "effect"), step(454*ms, "billing/1", "handler-end", "handler ended"),
		step(455*ms, "billing/1", "settle-start", "ack asked for"), step(456*ms, "billing/1", "settle-answer", "ack ok"),
		step(900*ms, "fault", "fault-healed", "kill billing/0"), step(3*sec, "broker", "end", "billing: done"),
	}}
	l.Steps[2].UntilNs, l.Steps[4].Effect, l.Steps[10].Effect, l.Steps[15].Inferred = 400*ms, 1, 2, true
	return l
}
