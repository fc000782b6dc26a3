// SPDX-License-Identifier: Apache-2.0

package runner_test

import (
	"slices"
	"testing"
)

// TestTriggers: what a step waits for, by the instants of the faults on an engine without
// latency: message n is published at n times 10ms.
func TestTriggers(t *testing.T) {
	for _, c := range []struct {
		name, timeline, profile string
		want                    []string
	}{
		{"the n-th publish", `
  - {at: {operation: publish, by: p0, n: 31}, do: kill, target: billing/0}
  - {after: 50ms, do: start, target: billing/0}`, "sqs",
			[]string{"f1 requested 300ms", "f1 active 300ms", "f1 healed 350ms"}},
		{"a publish of an id", `
  - {at: {operation: publish, id: p0/40}, do: kill, target: billing/0, for: 50ms}`, "sqs",
			[]string{"f1 requested 400ms", "f1 active 400ms", "f1 healed 450ms"}},
		{"the n-th message received", `
  - {at: {operation: receive, by: billing, n: 21}, do: kill, target: billing/0, for: 50ms}`, "rabbitmq",
			[]string{"f1 requested 200ms", "f1 active 200ms", "f1 healed 250ms"}},
		{"another fault", `
  - {at: 100ms, do: kill, target: billing/0, for: 50ms}
  - {at: {fault: kill}, do: freeze, target: billing/1, for: 20ms}
  - {at: {fault: kill, state: healed}, do: freeze, target: billing/0, for: 20ms}`, "sqs",
			[]string{"f1 requested 100ms", "f1 active 100ms", "f2 requested 100ms", "f2 active 100ms", "f2 healed 120ms",
				"f1 healed 150ms", "f3 requested 150ms", "f3 active 150ms", "f3 healed 170ms"}},
		{"a storm", `
  - {at: 100ms, repeat: {every: 200ms, for: 600ms}, do: kill, target: billing/0}
  - {after: 30ms, do: start, target: billing/0}`, "sqs",
			[]string{"f1 requested 100ms", "f1 active 100ms", "f1 healed 130ms", "f2 requested 300ms", "f2 active 300ms", "f2 healed 330ms",
				"f3 requested 500ms", "f3 active 500ms", "f3 healed 530ms"}},
		{"a storm of points", `
  - {at: {worker: billing, point: received}, repeat: {times: 2}, do: kill, target: billing, for: 30ms}
  - {after: 75ms, do: heal, fault: kill}`, "rabbitmq",
			[]string{"f1 requested 0s", "f1 active 0s", "f1 healed 30ms", "f2 requested 80ms", "f2 active 80ms", "f2 healed 110ms"}},
		{"heal by a step", `
  - {at: 95ms, do: drop, operation: publish}
  - {at: 195ms, do: heal, fault: drop}`, "sqs",
			[]string{"f1 requested 95ms", "f1 active 100ms", "f1 healed 195ms"}},
		{"one that never comes", `
  - {at: 95ms, do: drop, operation: publish, by: p0, nth: 500}`, "sqs",
			[]string{"f1 requested 95ms"}},
		{"one that does not come in time", `
  - {at: 95ms, do: drop, operation: publish, id: p0/99, for: 50ms}`, "sqs",
			[]string{"f1 requested 95ms"}},
	} {
		s := try(t, c.timeline, c.profile)
		if s.failed != nil || s.ids != s.stored {
			t.Errorf("%s: %v, %d of %d delivered", c.name, s.failed, s.ids, s.stored)
		}
		if !slices.Equal(s.faults, c.want) {
			t.Errorf("%s: %q, want %q", c.name, s.faults, c.want)
		}
	}
}

// TestAssignments: when the session of the first has run out, the second is given what it
// had at its next heartbeat.
func TestAssignments(t *testing.T) {
	s := try(t, `
  - {at: 300ms, do: kill, target: billing/0}
  - {at: {worker: billing/1, point: assign}, do: freeze, target: billing/1, for: 20ms}`, "kafka")
	want := []string{"f1 requested 2.4s", "f1 active 2.4s", "f1 healed 2.4s", "f2 requested 10s", "f2 active 10s", "f2 healed 10.02s"}
	if s.failed != nil || s.ids != 100 || !slices.Equal(s.faults, want) {
		t.Errorf("%v, %d delivered, %q, want %q", s.failed, s.ids, s.faults, want)
	}
}
