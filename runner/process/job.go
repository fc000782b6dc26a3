// SPDX-License-Identifier: Apache-2.0

package process

import (
	"encoding/json"
	"time"

	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/faults"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/runner"
	"github.com/seed-720a3c77/harness/workloads"
)

// Job is what a worker has to know. It holds credentials: it is never logged, and goes
// over the pipe alone.
type Job struct {
	Seat runner.Seat `json:"seat"`
	// Dir is the run's history; profile and nonce are in its manifest.
	Dir string `json:"dir"`
	// File names the workload in errors.
	File    string `json:"file"`
	Source  string `json:"source"`
	Variant string `json:"variant"`
	Seed    uint64 `json:"seed"`
	// Zero is the run's instant zero.
	Zero zero `json:"zero"`
	// Connect is for whoever opens the engine.
	Connect json.RawMessage `json:"connect"`
}

// plan makes the plan of the run again: the same source, profile and nonce give the same.
func (j *Job) plan(h history.Header, kinds []faults.Kind) (*runner.Plan, error) {
	doc, err := workloads.Parse(j.File, []byte(j.Source))
	if err != nil {
		return nil, err
	}
	spec, err := doc.Spec(j.Variant)
	if err != nil {
		return nil, err
	}
	return runner.NewPlan(spec, h.Profile, runner.Where{Processes: true, Nonce: h.Nonce, Faults: kinds})
}

// zero is an instant as another process of the host can find it: by the monotonic clock
// that they share, or by the wall clock where there is none.
type zero struct {
	Wall      time.Time     `json:"wall"`
	Monotonic time.Duration `json:"monotonic_ns,omitempty"`
}

func zeroOf(clk *clock.Wall) zero {
	now, shared, ok := readings()
	if !ok {
		return zero{Wall: clk.Base()}
	}
	return zero{clk.Base(), shared - now.Sub(clk.Base())}
}

// instant is zero on the clock of this process.
func (z zero) instant() time.Time {
	now, shared, ok := readings()
	if !ok || z.Monotonic == 0 {
		return z.Wall
	}
	return now.Add(z.Monotonic - shared)
}

// readings reads the process's clock and the host's at one instant, as nearly as can be
// told from a few tries.
func readings() (now time.Time, shared time.Duration, ok bool) {
	least := time.Hour
	for range 8 {
		before := time.Now()
		reading, known := monotonic()
		took := time.Since(before)
		if !known {
			return before, 0, false
		}
		if took < least {
			least, now, shared = took, before.Add(took/2), reading
		}
	}
	return now, shared, true
}
