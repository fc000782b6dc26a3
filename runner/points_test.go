// SPDX-License-Identifier: Apache-2.0

package runner_test

import (
	"slices"
	"testing"
)

// TestStopAtItsOwnPoint: the worker that reached the point finishes its batch and leaves,
// though it is held there until the step is done.
func TestStopAtItsOwnPoint(t *testing.T) {
	for _, profile := range []string{"kafka", "sqs", "rabbitmq"} {
		s := try(t, `
  - {at: {worker: billing, point: before-handler, n: 1}, do: stop, target: billing}
  - {after: 50ms, do: start, target: billing}`, profile)
		if s.failed != nil || s.ids != s.stored || s.again != 0 {
			t.Errorf("%s: %v, %d of %d delivered, %d again", profile, s.failed, s.ids, s.stored, s.again)
		}
		if len(s.faults) != 3 || s.faults[0][:12] != "f1 requested" || s.faults[2][:9] != "f1 healed" {
			t.Errorf("%s: %q", profile, s.faults)
		}
	}
}

// TestTheFirstIsNotMissed: what a chain begins with is armed before the load begins.
func TestTheFirstIsNotMissed(t *testing.T) {
	s := try(t, `
  - {at: {operation: publish, by: p0, n: 1}, do: kill, target: billing/0, for: 50ms}`, "sqs")
	want := []string{"f1 requested 0s", "f1 active 0s", "f1 healed 50ms"}
	for _, w := range want {
		if !slices.Contains(s.faults, w) {
			t.Errorf("%v: %q lacks %q", s.failed, s.faults, w)
		}
	}
}
