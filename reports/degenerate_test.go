// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/contract"
)

func suiteOf(runs ...checkers.Result) *checkers.Results { return &checkers.Results{Runs: runs} }

func with(change func(*checkers.Result)) *checkers.Results {
	r := violated()
	change(&r)
	return suiteOf(r)
}

// TestNothingToShowIsSaidInWords: no empty chart, no zero that was not measured, no panic.
func TestNothingToShowIsSaidInWords(t *testing.T) {
	for name, c := range map[string]struct {
		results *checkers.Results
		words   string
	}{
		"no runs":        {&checkers.Results{}, "Nothing was run"},
		"zero run":       {suiteOf(checkers.Result{}), "Nothing was claimed"},
		"zero runs":      {suiteOf(checkers.Result{}, checkers.Result{}), "Unjudged"},
		"not applicable": {&checkers.Results{NotRun: sample().NotRun[:1]}, "No lease"},
		"no timeline":    {with(func(r *checkers.Result) { r.Timeline = checkers.Timeline{} }), "No timeline"},
		"empty series":   {with(func(r *checkers.Result) { r.Timeline.Series = []checkers.Series{{Panel: "rates", Name: "acked"}} }), "No timeline"},
		"no step":        {with(func(r *checkers.Result) { r.Timeline.StepNs = 0 }), "No timeline"},
		"nil values": {with(func(r *checkers.Result) {
			r.Timeline.Series = []checkers.Series{{Panel: "rates", Name: "acked", Values: values(-1, -1)}}
		}), "Not measured in this run"},
		"no duplicates":   {with(func(r *checkers.Result) { r.Timeline.Series = r.Timeline.Series[:8] }), "No message was delivered more than once"},
		"no latency":      {with(func(r *checkers.Result) { r.Latency = nil }), "there is no latency to draw"},
		"empty histogram": {with(func(r *checkers.Result) { r.Latency = []checkers.Latency{{Name: "handled", Window: "all"}} }), "there is no latency to draw"},
		"one sample": {with(func(r *checkers.Result) {
			one := histogram("handled", "all", ms)
			one.Count = 1
			r.Latency = []checkers.Latency{one}
		}), "two samples or more"},
		"no faults":    {with(func(r *checkers.Result) { r.Faults = nil }), "No fault was planned"},
		"never active": {sample(), "requested, never active"},
		"no anomalies": {with(func(r *checkers.Result) { r.Anomalies = nil }), "No anomaly"},
		"no stories":   {with(func(r *checkers.Result) { r.Lives = []checkers.Life{{Title: "nothing recorded"}} }), "No story"},
		"no shares":    {with(func(r *checkers.Result) { r.Shares = nil }), "Nobody handled a message"},
		"no counts":    {with(func(r *checkers.Result) { r.Counts = nil }), "not measured"},
		"no ledger":    {with(func(r *checkers.Result) { r.Ledger = nil }), "No message was published"},
		"slow rates": {with(func(r *checkers.Result) {
			r.Timeline.Series = []checkers.Series{{Panel: "rates", Name: "acked", Total: 6, Values: values(0, 0)}}
		}), "Under 1 a second throughout; in all acked 6."},
	} {
		t.Run(name, func(t *testing.T) {
			for _, f := range Formats() {
				text := render(t, f.Name, c.results)
				if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") || strings.Contains(text, "ZgotmplZ") {
					t.Errorf("%s has a number that is none", f.Name)
				}
				if f.Name == "html" && !strings.Contains(text, c.words) {
					t.Errorf("the page does not say %q", c.words)
				}
			}
		})
	}
}

func TestOneSampleIsSeen(t *testing.T) {
	page := render(t, "html", with(func(r *checkers.Result) {
		r.Timeline.Series = []checkers.Series{{Panel: "rates", Name: "acked", Values: values(5)}}
	}))
	if !strings.Contains(page, `class="ln s-blue line" d="M0 `) {
		t.Error("one column is not drawn as a stroke")
	}
}

func TestFindingsAreCapped(t *testing.T) {
	page := render(t, "html", with(func(r *checkers.Result) {
		r.Anomalies = []checkers.Anomaly{{Name: "redelivered", Count: 10_000, Examples: findings(10_000)}}
	}))
	if n := strings.Count(page, `class="finding"`); n != shownExamples || !strings.Contains(page, "8 of 10,000 shown") {
		t.Errorf("%d findings are listed, want %d and the number of all", n, shownExamples)
	}
}

func TestLongStoriesAreCut(t *testing.T) {
	r := big()
	page := render(t, "html", suiteOf(r))
	if n := strings.Count(page, ` class="c1">`); n != shownLives*(1+lifeHead+lifeTail) {
		t.Errorf("%d rows of stories, want %d", n, shownLives*(1+lifeHead+lifeTail))
	}
	if !strings.Contains(page, "events before this are not shown") {
		t.Error("what is left out is not said")
	}
}

func TestNothingMakesAReportPanic(t *testing.T) {
	number := rapid.OneOf(rapid.Int64Range(-1, 100), rapid.Int64Range(0, 1e12), rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64, -1, 0}))
	text := rapid.SampledFrom([]string{"", "rates", "lag", "latency", "duplicates", "errors", "ready", "held", "handled", "all", "during", "delivery", "handler-start", "session-close", "fault-active", "fault-healed", "fault", "producer", "broker", "w", "end", hostile})
	rapid.Check(t, func(rt *rapid.T) {
		num := func() int64 { return number.Draw(rt, "n") }
		word := func() string { return text.Draw(rt, "s") }
		many := func() int { return rapid.IntRange(0, 4).Draw(rt, "many") }
		r := checkers.Result{Verdict: contract.Verdict(rapid.IntRange(0, 4).Draw(rt, "verdict")), Engine: word(), Workload: word(), Timeline: checkers.Timeline{StartNs: num(), StepNs: num()}}
		for range many() {
			s := checkers.Series{Panel: word(), Name: word(), Total: num()}
			for range many() {
				if v := num(); v != 0 {
					s.Values = append(s.Values, &v)
				} else {
					s.Values = append(s.Values, nil)
				}
			}
			r.Timeline.Series = append(r.Timeline.Series, s)
			r.Faults = append(r.Faults, checkers.FaultWindow{Text: word(), RequestedNs: num(), ActiveNs: num(), HealedNs: num(), RecoveredNs: num(), LagPeak: num()})
			r.Phases = append(r.Phases, checkers.Span{Name: word(), StartNs: num(), EndNs: num()})
			r.Latency = append(r.Latency, checkers.Latency{Name: word(), Window: word(), Count: num(), MinNs: num(), P50Ns: num(), P999Ns: num(), MaxNs: num(),
				Curve: []checkers.Percentile{{Share: rapid.Float64().Draw(rt, "share"), Ns: num()}}})
			r.Ledger = append(r.Ledger, checkers.Balance{Total: num(), Difference: num(), Lines: []checkers.Line{{Count: num(), Kind: word()}}})
			r.Shares = append(r.Shares, checkers.Share{Of: word(), Handled: num(), P99Ns: num()})
			l := checkers.Life{Title: word()}
			for range many() * 12 {
				l.Steps = append(l.Steps, checkers.LifeStep{AtNs: num(), UntilNs: num(), Lane: word(), Kind: word(), Effect: many()})
			}
			r.Lives = append(r.Lives, l)
		}
		for _, f := range Formats() {
			render(t, f.Name, suiteOf(r))
		}
	})
}
