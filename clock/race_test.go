// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/internal/testenv"
)

// strayVariable makes the test binary run the program with the mistake.
const strayVariable = "CLOCK_TEST_STRAY"

// TestStrayGoroutine: a clock call from a goroutine that a task started goes unnoticed by
// the clock; the race detector reports it.
func TestStrayGoroutine(t *testing.T) {
	if os.Getenv(strayVariable) != "" {
		stray(t)
		return
	}
	testenv.Need(t, "race")
	cmd := exec.Command(os.Args[0], "-test.run=^TestStrayGoroutine$")
	cmd.Env = append(os.Environ(), strayVariable+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "DATA RACE") {
		t.Errorf("not reported: %v\n%s", err, out)
	}
}

// stray reads the time on a goroutine of its own while the task moves it.
func stray(t *testing.T) {
	v := NewVirtual(1)
	defer v.Close()
	run(t, v, func(ctx context.Context) {
		done := make(chan time.Duration)
		go func() { done <- v.Now() }()
		v.Sleep(ctx, time.Second)
		<-done
	})
}
