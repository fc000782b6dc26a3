// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/internal/testenv"
)

// TestVerifyEndsWhatLeftItsGroup: no signal to the group reaches it, and SIGTERM does nothing.
func TestVerifyEndsWhatLeftItsGroup(t *testing.T) {
	testenv.Need(t, "sqs")
	out := filepath.Join(t.TempDir(), "verify")
	script := `setsid sh -c 'trap "" TERM; echo $$ >>"$HARNESS_DIR/pids"; while :; do sleep 1; done' &
		while [ "$(wc -l <"$HARNESS_DIR/pids")" -lt 2 ]; do sleep 0.1; done; echo "{\"id\": \"$HARNESS_RUN-0\"}"; wait`
	args := append([]string{"--on", "sqs", "--messages", "1", "--duplicate", "0", "--kill", "0", "--workers", "1", "--ready", "1m", "--patience", "1s", "--grace", "1s", "--effects", "stdout"},
		noted(script)...)
	code, said := verified(t, build(t), out, args...)
	if code != exitInconclusive || !strings.Contains(said, "had left its process group") {
		t.Errorf("exit %d, want %d and a word on who left\n%s", code, exitInconclusive, said)
	}
	nothingLeft(t, out)
}
