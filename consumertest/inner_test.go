// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// TestInner is what TestRun runs in a process of its own, because it is meant to fail.
func TestInner(t *testing.T) {
	switch os.Getenv("CONSUMERTEST_INNER") {
	case "naive":
		Run(t, noteAfter, On(RabbitMQQuorum, SQSFIFO))
	case "mended":
		Run(t, onceBy(byID, 0), On(RabbitMQQuorum))
	case "panics":
		Run(t, noGarbage, On(Kafka))
	case "between calls":
		Run(t, silently, Counts(countOwn), On(Kafka))
	}
}

// silently is right, and makes no operation that a schedule can see.
func silently(e Env) Handler {
	store := Survivor(e, "store", newOwnStore)
	return func(_ context.Context, m Message) error {
		addOnce(store, m.ID)
		return nil
	}
}

var took = regexp.MustCompile(`\(\d+\.\d+s\)`)

// inner runs TestInner with arguments of go test, and returns its output without durations.
func inner(t *testing.T, what string, args ...string) (output string, passed bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), "CONSUMERTEST_INNER="+what)
	out, err := cmd.CombinedOutput()
	return took.ReplaceAllString(string(out), "(T)"), err == nil
}

// TestRun: subtests, -run, -short and seeds work as everywhere, and one mistake is told once.
func TestRun(t *testing.T) {
	tests := []struct {
		name, what string
		args       []string
		passed     bool
	}{
		{"run-one-family", "naive", []string{"-test.run=^TestInner$/^rabbitmq-quorum$/^crashed$"}, false},
		{"run-all-families", "naive", []string{"-test.run=^TestInner$/^rabbitmq-quorum$"}, false},
		{"run-one-seed", "naive", []string{"-test.run=^TestInner$/^sqs-fifo$/^failing$", "-consumertest.seed=5"}, false},
		{"run-short", "mended", []string{"-test.run=^TestInner$", "-test.v", "-test.short", "-test.parallel=1"}, true},
		{"run-panics", "panics", []string{"-test.run=^TestInner$/^kafka$/^failing$"}, false},
		{"run-between-calls", "between calls", []string{"-test.run=^TestInner$/^kafka$/^crashed$", "-test.v"}, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			out, passed := inner(t, test.what, test.args...)
			if passed != test.passed {
				t.Errorf("passed %v, want %v:\n%s", passed, test.passed, out)
			}
			golden(t, test.name, withoutLines(goLines.ReplaceAllString(strings.ReplaceAll(out, "\r", ""), "$1:N")))
		})
	}
}

var goLines = regexp.MustCompile(`(\w+\.go):\d+`)
