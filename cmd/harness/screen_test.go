// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"regexp"
	"testing"
)

// TestTheProgressSaysWhatTheTableSays: a violation that is foreseen is as expected in both.
func TestTheProgressSaysWhatTheTableSays(t *testing.T) {
	stdout, progress, code := harness("run", "poison-pill", "--on", "inmem:kafka", "--out", filepath.Join(t.TempDir(), "o"))
	if code != exitPass {
		t.Fatalf("exit %d\n%s%s", code, stdout, progress)
	}
	for variant, word := range map[string]string{"retry-forever": "as expected", "dead-letter": "pass", "retry-topic": "pass"} {
		for text, line := range map[string]string{stdout: "poison-pill " + variant + " +" + word + " ", progress: `poison-pill\.` + variant + `\.inmem-kafka: ` + word + " in "} {
			if !regexp.MustCompile(line).MatchString(text) {
				t.Errorf("no line is like %q:\n%s", line, text)
			}
		}
	}
}
