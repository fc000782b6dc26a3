// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"encoding/xml"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/checkers"
)

func TestJUnitHasACaseForEachJudgement(t *testing.T) {
	var got junitSuites
	if err := xml.Unmarshal([]byte(render(t, "junit", sample())), &got); err != nil {
		t.Fatal(err)
	}
	outcomes := map[string]string{}
	for _, s := range got.Suites {
		for _, c := range s.Cases {
			outcomes[s.Name+": "+c.Name] = outcome(&c)
		}
	}
	want := map[string]string{
		"steady on inmem:kafka: claim at-least-once":         "",
		"steady on kafka: claim at-least-once":               "",
		"crash after-batch on kafka: claim effectively-once": "failure",
		"crash after-batch on kafka: claim order-per-key":    "skipped",
		"poison on kafka: claim drained":                     "",
		"poison on kafka: expectation undrained":             "",
		"slow-handler on kafka: claim at-least-once":         "error",
		"crash before-handler on kafka: claim at-least-once": "",
		"crash before-handler on kafka: expectation lost":    "failure",
		"slow-handler on inmem:kafka: run":                   "skipped",
		"steady on rabbitmq: run":                            "error",
	}
	for name, outcome := range want {
		if got, ok := outcomes[name]; !ok || got != outcome {
			t.Errorf("%s is %q (there: %v), want %q", name, got, ok, outcome)
		}
	}
	if len(outcomes) != len(want) {
		t.Errorf("%d cases, want %d", len(outcomes), len(want))
	}
	if got.Tests != 11 || got.Failures != 2 || got.Errors != 2 || got.Skipped != 2 {
		t.Errorf("counts are %d %d %d %d, want 11 2 2 2", got.Tests, got.Failures, got.Errors, got.Skipped)
	}
}

func outcome(c *junitCase) string {
	switch {
	case c.Failure != nil:
		return "failure"
	case c.Error != nil:
		return "error"
	case c.Skipped != nil:
		return "skipped"
	}
	return ""
}

func TestJUnitFailureNamesTheEvidence(t *testing.T) {
	text := render(t, "junit", sample())
	for _, want := range []string{`message="measured 3, limit 0 effects twice"`, "p0/17, p0/18, p0/19, p0/20, p0/21, 2 more", "harness explain crash.kafka p0/17", "found 810 of 1,000; needed at least 99 %"} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
}

func TestJUnitOfARunWithoutClaimsHasItsVerdict(t *testing.T) {
	r := base("steady", "", "kafka")
	r.Claims, r.Verdict = nil, 0
	text := render(t, "junit", &checkers.Results{Runs: []checkers.Result{r}})
	if !strings.Contains(text, `errors="1"`) || !strings.Contains(text, `type="unjudged"`) {
		t.Errorf("an unjudged run is no error:\n%s", text)
	}
}
