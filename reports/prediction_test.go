// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/checkers"
)

// foretold is a run with a count inside, one outside once, and one in three repeats.
func foretold(findings bool) *checkers.Results {
	r := passed("steady", "", "kafka")
	counts := []checkers.Predicted{
		{Name: "deliveries", Measured: 1000, Min: 1000, P5: 1000, Median: 1000, P95: 1000, Max: 1100},
		{Name: "redelivered", Measured: 7, Min: 0, P5: 0, Median: 1, P95: 3, Max: 5, OutsideIn: 1},
		{Name: "silence.max_ms", Measured: 900, Min: 1000, P5: 1000, Median: 1100, P95: 1200, Max: 1300, Slack: 500},
	}
	if findings {
		counts = append(counts, checkers.Predicted{Name: "<b>lost</b>", Measured: 4, OutsideIn: 3})
	}
	r.Prediction = &checkers.Prediction{Model: "kafka-4.1-sarama", First: 1, Seeds: 1000, Histories: 998, Repeats: 3, Counts: counts, Zero: 40,
		Conditions: []string{"load: 1000 messages at their measured times"}}
	return &checkers.Results{Schema: checkers.Schema, Runs: []checkers.Result{r}}
}

// TestPredictionIsInEveryFormat: a finding is told everywhere, a note where there is room,
// and names are escaped.
func TestPredictionIsInEveryFormat(t *testing.T) {
	for format, want := range map[string][]string{
		"html":  {"Model and broker", "Outside, a finding", "Outside, a note", "Inside", "998 seeds", "give or take 500", "&lt;b&gt;lost&lt;/b&gt;", "40 more counts are 0"},
		"text":  {"2 of 4 counts inside, 1 note, 1 finding, repeat 3", "finding: <b>lost</b>: measured 4, the model gives 0 to 0", "note: redelivered: measured 7, the model gives 0 to 5"},
		"md":    {"Model and broker:", "&lt;b&gt;lost&lt;/b&gt;: measured 4"},
		"json":  {`"outside_in": 3`, `"histories": 998`},
		"junit": {"prediction &lt;b&gt;lost&lt;/b&gt;", `type="prediction"`},
	} {
		got := render(t, format, foretold(true))
		for _, text := range want {
			if !strings.Contains(got, text) {
				t.Errorf("%s lacks %q", format, text)
			}
		}
		if format == "html" && strings.Contains(got, "<b>lost</b>") {
			t.Error("html shows a name as markup")
		}
	}
}

// TestNoteIsNoFailure: JUnit and Markdown are silent on what may be noise.
func TestNoteIsNoFailure(t *testing.T) {
	for _, format := range []string{"junit", "md"} {
		if got := render(t, format, foretold(false)); strings.Contains(got, "redelivered: measured") || strings.Contains(got, "failures=\"1\"") {
			t.Errorf("%s tells a note:\n%s", format, got)
		}
	}
}

func TestMissingPredictionSaysWhy(t *testing.T) {
	results := foretold(false)
	results.Runs[0].Prediction = &checkers.Prediction{Model: "sqs", Missing: "the model of a broker has no process"}
	for _, format := range []string{"html", "text"} {
		if got := render(t, format, results); !strings.Contains(got, "the model of a broker has no process") {
			t.Errorf("%s does not say why there is no prediction", format)
		}
	}
}
