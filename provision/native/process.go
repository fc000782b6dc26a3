// SPDX-License-Identifier: Apache-2.0

package native

import (
	"context"
	"fmt"
	"os"
	"time"
)

// markVariable is set in the environment of every broker process to the folder it runs in.
const markVariable = "HARNESS_NATIVE_DIR"

// goneEvery is the pause between two looks at a process that was signalled.
const goneEvery = 5 * time.Millisecond

// process is one operating system process that leads a group of its own. Started tells it
// from a later process with the same id.
type process struct {
	Name    string `json:"name"`
	PID     int    `json:"pid"`
	Started string `json:"started"`
}

// alive tells whether this very process still runs; a zombie does not.
func (p process) alive() bool {
	started, ok := startOf(p.PID)
	return ok && started == p.Started
}

// kill ends the process and its group at once and returns when it is gone.
func (p process) kill(ctx context.Context) error {
	if !p.alive() {
		return nil
	}
	p.signal(kill)
	if err := until(ctx, func() bool { return !p.alive() }); err != nil {
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
