// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"time"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

// Schema names the form of results.json. Units are in the names of the fields.
const Schema = "harness.results/1"

// Results is results.json of a suite: one Result a run. A single run is a suite of one.
type Results struct {
	Schema  string    `json:"schema"`
	Tool    string    `json:"tool"`
	Command string    `json:"command,omitempty"`
	Started time.Time `json:"started"`
	Runs    []Result  `json:"runs"`
	// NotRun lists what was asked for and could not be shown, with the reason.
	NotRun []NotRun `json:"not_run,omitempty"`
}

// NotRun is a cell of the matrix without a run.
type NotRun struct {
	Workload string           `json:"workload"`
	Variant  string           `json:"variant,omitempty"`
	Engine   string           `json:"engine"`
	Verdict  contract.Verdict `json:"verdict"` // not applicable or inconclusive
	Reason   string           `json:"reason"`
}

// Result is everything known about one run.
type Result struct {
	Run      string `json:"run"`
	Dir      string `json:"dir,omitempty"` // relative to the suite
	Workload string `json:"workload"`
	Variant  string `json:"variant,omitempty"`
	About    string `json:"about,omitempty"`
	Engine   string `json:"engine"`
	Provider string `json:"provider,omitempty"`

	Verdict contract.Verdict `json:"verdict"`
	// AsExpected: every expectation was met, so that a violated claim is "violated, as expected".
	AsExpected bool `json:"as_expected"`
	// Sentence is the verdict in at most three sentences: the number against its limit,
	// the cause, what held.
	Sentence string        `json:"sentence"`
	Claims   []ClaimResult `json:"claims"`
	// Expectations are judged apart from the claims.
	Expectations []ClaimResult `json:"expectations,omitempty"`
	// Missing says what a claim needed and did not get; empty when there is a verdict.
	Missing []Missing `json:"missing,omitempty"`

	// Counts are all facts by their fixed names ("lost", "redelivered"); a fact that
	// was not measured is absent, never 0.
	Counts    map[string]int64 `json:"counts"`
	Ledger    []Balance        `json:"ledger"`
	Anomalies []Anomaly        `json:"anomalies,omitempty"`
	Faults    []FaultWindow    `json:"faults,omitempty"`
	Phases    []Span           `json:"phases"`
	Latency   []Latency        `json:"latency,omitempty"`
	// Generations are the changes of ownership, in order.
	Generations []Generation `json:"generations,omitempty"`
	Timeline    Timeline     `json:"timeline"`
	Lives       []Life       `json:"lives,omitempty"`
	Shares      []Share      `json:"shares,omitempty"`
	Trust       Trust        `json:"trust"`
	// Prediction is what the broker's model says of the run; nil where it was not asked.
	Prediction *Prediction `json:"prediction,omitempty"`

	Profile  contract.Profile  `json:"profile"`
	Fidelity string            `json:"fidelity"`
	Seed     uint64            `json:"seed"`
	Settings map[string]string `json:"settings,omitempty"`
	Versions map[string]string `json:"versions,omitempty"`
	Host     string            `json:"host,omitempty"`
	Started  time.Time         `json:"started"`
	Spec     string            `json:"spec"`
	Command  string            `json:"command,omitempty"`
}

// ClaimResult is one claim, threshold or expectation judged.
type ClaimResult struct {
	Name    string           `json:"name"`
	Verdict contract.Verdict `json:"verdict"`
	// Limit and Measured are as shown: "0 lost", "3".
	Limit    string `json:"limit"`
	Measured string `json:"measured"`
	Sentence string `json:"sentence"`
	// Decide, of an inconclusive claim, is what would decide it: a command, perhaps with
	// what to change first.
	Decide string `json:"decide,omitempty"`
	// Teeth says what the run did that could have broken the claim: "50 unsettled at the fault".
	Teeth string   `json:"teeth,omitempty"`
	IDs   []msg.ID `json:"ids,omitempty"`
}

// Missing explains an inconclusive verdict.
type Missing struct {
	Check  string `json:"check"`
	Found  string `json:"found"`
	Needed string `json:"needed"`
	// Decide is what would decide it, a command where there is one.
	Decide string `json:"decide"`
}

// Balance is one sheet of the ledger: Total must be the sum of the lines.
type Balance struct {
	Title        string `json:"title"`
	Subscription string `json:"subscription,omitempty"`
	TotalLabel   string `json:"total_label"`
	Total        int64  `json:"total"`
	Lines        []Line `json:"lines"`
	// Difference is Total minus the sum; anything but 0 is a violation.
	Difference int64 `json:"difference"`
}

// Line is a part of a balance.
type Line struct {
	Label string `json:"label"`
	Count int64  `json:"count"`
	// Kind is "good", "allowed", "bad" or "open" (undrained, unknown).
	Kind string `json:"kind"`
}

// Anomaly is a class of findings.
type Anomaly struct {
	// Name is the fixed name of the row, such as "lost" or "duplicate-after-ack".
	Name string `json:"name"`
	// Kind is "error", "legal" or "statistic" under the contract of this run.
	Kind string `json:"kind"`
	// Doc is one sentence of definition.
	Doc      string    `json:"doc"`
	Severity int       `json:"severity"` // 1 worst
	Count    int64     `json:"count"`
	Examples []Example `json:"examples"` // at most 32, the first ones
}

// Example is one finding with its evidence.
type Example struct {
	ID           msg.ID `json:"id"`
	Subscription string `json:"subscription,omitempty"`
	AtNs         int64  `json:"at_ns"`
	// Cause is what explains it: "lease expired", "session died", "unexplained".
	Cause string `json:"cause,omitempty"`
	// Fault names the fault window it falls in; empty is outside.
	Fault string `json:"fault,omitempty"`
	// Events are the indexes of the evidence in the merged history, from 0.
	Events []int64 `json:"events,omitempty"`
	Text   string  `json:"text"`
}

// Span is a stretch of the run.
type Span struct {
	Name    string `json:"name"`
	StartNs int64  `json:"start_ns"`
	EndNs   int64  `json:"end_ns"`
}

// ActiveFaults counts the faults that were seen to be active.
func (r *Result) ActiveFaults() (n int) {
	for i := range r.Faults {
		if r.Faults[i].ActiveNs >= 0 {
			n++
		}
	}
	return n
}

// FaultWindow is one fault as it went; -1 where it never came.
type FaultWindow struct {
	Number      int    `json:"number"` // f1, f2 ...
	Name        string `json:"name"`
	Target      string `json:"target"`
	Text        string `json:"text"`
	RequestedNs int64  `json:"requested_ns"`
	ActiveNs    int64  `json:"active_ns"`
	HealedNs    int64  `json:"healed_ns"`
	RecoveredNs int64  `json:"recovered_ns"`

	// What was measured; -1 where not.
	DetectionNs    int64 `json:"detection_ns"`     // after active, until a client first noticed
	FirstSuccessNs int64 `json:"first_success_ns"` // after active
	BackNs         int64 `json:"back_ns"`          // after the heal, until the first success
	RateBackNs     int64 `json:"rate_back_ns"`     // after the heal, to the end of the first second with 95 % of the rate before
	SilenceNs      int64 `json:"silence_ns"`       // longest without a handled message
	RateBefore     int64 `json:"rate_before_msgs_per_s"`
	LagPeak        int64 `json:"lag_peak_msgs"`  // until the next fault
	DrainNs        int64 `json:"drain_ns"`       // from that peak until the lag was no higher than before the first fault
	Unsettled      int64 `json:"unsettled_msgs"` // delivered and not settled when it became active
	Lost           int64 `json:"lost_msgs"`
	Redelivered    int64 `json:"redelivered_msgs"`
	EffectTwice    int64 `json:"effect_duplicates"`
	StoredTwice    int64 `json:"stored_twice_msgs"`
	Reordered      int64 `json:"reordered_msgs"`
	Unexplained    int64 `json:"unexplained_msgs"` // deliveries that nothing explains
}

// Latency is one histogram.
type Latency struct {
	// Name is publish (intended to ack), receive (intended to first delivery), handled
	// (intended to first effect or handler end), final (to last success), redelivery (gap).
	Name string `json:"name"`
	// Window is all, before, during or after the faults.
	Window string `json:"window"`
	Count  int64  `json:"count"`
	MinNs  int64  `json:"min_ns"`
	P50Ns  int64  `json:"p50_ns"`
	P90Ns  int64  `json:"p90_ns"`
	P99Ns  int64  `json:"p99_ns"`
	P999Ns int64  `json:"p999_ns"`
	MaxNs  int64  `json:"max_ns"`
	// Overflow and Negative samples are counted, not recorded.
	Overflow int64 `json:"overflow"`
	Negative int64 `json:"negative"`
	// Curve is the percentile curve for drawing.
	Curve []Percentile `json:"curve,omitempty"`
	// HDR is the histogram in V2 compressed base64, so that any percentile can be recomputed.
	HDR string `json:"hdr,omitempty"`
}

// Percentile is a point of a curve: Share of samples at or below Ns.
type Percentile struct {
	Share float64 `json:"share"`
	Ns    int64   `json:"ns"`
	Count int64   `json:"count"` // samples at or below
}

// Timeline holds series over time, at most 300 columns.
type Timeline struct {
	StartNs int64    `json:"start_ns"`
	StepNs  int64    `json:"step_ns"`
	Series  []Series `json:"series"`
}

// Series is one line of a timeline; Values are per column, null (NaN) where not measured.
type Series struct {
	// Panel is rates, lag, age, latency, duplicates or errors.
	Panel  string   `json:"panel"`
	Name   string   `json:"name"`
	Unit   string   `json:"unit"`
	Total  int64    `json:"total,omitempty"`
	Values []*int64 `json:"values"`
}

// Life is the story of one message.
type Life struct {
	ID    msg.ID     `json:"id"`
	Title string     `json:"title"`
	Steps []LifeStep `json:"steps"`
}

// LifeStep is one event of a life.
type LifeStep struct {
	AtNs  int64  `json:"at_ns"`
	Event int64  `json:"event"` // index in the merged history; -1 inferred
	Lane  string `json:"lane"`  // producer, broker, or the worker's name
	Kind  string `json:"kind"`
	Text  string `json:"text"`
	// UntilNs ends a bar (handler run, lease); 0 for an instant.
	UntilNs int64 `json:"until_ns,omitempty"`
	// Effect is the number of the effect, from 1; 0 for none.
	Effect int `json:"effect,omitempty"`
	// Inferred: not recorded, concluded.
	Inferred bool `json:"inferred,omitempty"`
}

// Share is how much of the work somebody did.
type Share struct {
	Of      string `json:"of"` // worker, partition, producer
	Name    string `json:"name"`
	Handled int64  `json:"handled_msgs"`
	P99Ns   int64  `json:"p99_ns"`
	// PeakInFlight is the most it held unsettled at once.
	PeakInFlight int64 `json:"peak_in_flight"`
}

// Trust is what the numbers rest on.
type Trust struct {
	Events          int64    `json:"events"`
	Clock           string   `json:"clock"`
	SchedLagP99Ns   int64    `json:"schedule_lag_p99_ns"`
	LateSends       int64    `json:"late_sends"`
	OfferedMsgs     int64    `json:"offered_msgs"`
	PlannedMsgs     int64    `json:"planned_msgs"`
	UnknownShare    float64  `json:"unknown_share"`
	Dropped         int64    `json:"dropped_events"`
	HistoryComplete bool     `json:"history_complete"`
	Drained         bool     `json:"drained"`
	Interrupted     bool     `json:"interrupted,omitempty"`
	WarmupCutMsgs   int64    `json:"warmup_cut_msgs"`
	Notes           []string `json:"notes,omitempty"`
}
