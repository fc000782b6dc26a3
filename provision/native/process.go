// SPDX-License-Identifier: Apache-2.0

package native

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/seed-720a3c77/harness/internal/proc"
)

// markVariable is set in the environment of every broker process to the folder it runs in.
const markVariable = "HARNESS_NATIVE_DIR"

// goneEvery is the pause between two looks at a process that was signalled.
const goneEvery = 5 * time.Millisecond

// process is a command of a recipe that was started. It leads a group of its own.
type process struct {
	Name string `json:"name"`
	proc.Process
}

// kill ends the process and its group at once and returns when it is gone.
func (p process) kill(ctx context.Context) error {
	if !p.Alive() {
		return nil
	}
	p.Kill()
	if err := until(ctx, func() bool { return !p.Alive() }); err != nil {
		return fmt.Errorf("process %d (%s) does not end: %w", p.PID, p.Name, err)
	}
	return nil
}

// until looks every few milliseconds until the condition holds or ctx ends.
func until(ctx context.Context, condition func() bool) error {
	ticker := time.NewTicker(goneEvery)
	defer ticker.Stop()
	for !condition() {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
	}
	return nil
}

// cleanEnv is the whole environment of a broker process: no setting and no secret of the
// harness's own environment reaches it.
func cleanEnv(dir string, extra []string) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + dir,
		"TMPDIR=" + dir,
		"LANG=C.UTF-8",
		markVariable + "=" + dir,
	}
	return append(env, extra...)
}
