// SPDX-License-Identifier: Apache-2.0

package spawn

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

func TestEndEscaped(t *testing.T) {
	run := fmt.Sprintf("SPAWN_TEST_RUN=%d", os.Getpid())
	begin := func(variable string) *exec.Cmd {
		cmd := exec.Command("sleep", "1000")
		cmd.Env = append(os.Environ(), variable)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	escaped, other := begin(run), begin(run+"0")
	if got := EndEscaped(run); got != 1 {
		t.Errorf("%d were ended, want 1", got)
	}
	if err := escaped.Wait(); err == nil {
		t.Error("it left by itself")
	}
	if err := other.Process.Kill(); err != nil { // an error is one that has ended
		t.Errorf("another run's: %v", err)
	}
	_ = other.Wait()
	if got := EndEscaped(run); got != 0 {
		t.Errorf("%d were ended when none was left", got)
	}
}
