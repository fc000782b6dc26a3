// SPDX-License-Identifier: Apache-2.0

package runner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestJitterComesFromTheSeed: a step of a storm is later by a part of the jitter, the same
// in every run of a seed; the points' steps are too.
func TestJitterComesFromTheSeed(t *testing.T) {
	for _, c := range []struct {
		timeline string
		from     []time.Duration // when each kill could come first
		spread   time.Duration
	}{
		{`
  - {at: 100ms, repeat: {every: 200ms, times: 3, jitter: 150ms}, do: kill, target: billing/0, for: 10ms}`,
			[]time.Duration{100 * time.Millisecond, 300 * time.Millisecond, 500 * time.Millisecond}, 150 * time.Millisecond},
		{`
  - {at: {worker: billing/0, point: received}, repeat: {times: 1, jitter: 150ms}, do: kill, target: billing/0, for: 10ms}`,
			[]time.Duration{0}, 150 * time.Millisecond},
	} {
		first, again := activeAt(t, c.timeline), activeAt(t, c.timeline)
		if !slices.Equal(first, again) {
			t.Errorf("the same seed: %v, then %v", first, again)
		}
		if len(first) != len(c.from) || slices.Equal(first, c.from) {
			t.Errorf("active at %v: want %d, later than %v", first, len(c.from), c.from)
			continue
		}
		for i, at := range first {
			if at < c.from[i] || at >= c.from[i]+c.spread {
				t.Errorf("kill %d at %s, want within %s of %s", i+1, at, c.spread, c.from[i])
			}
		}
	}
}

// activeAt are the instants at which faults became active.
func activeAt(t *testing.T, timeline string) (all []time.Duration) {
	t.Helper()
	s := try(t, timeline, "rabbitmq")
	if s.failed != nil {
		t.Fatal(s.failed)
	}
	for _, line := range s.faults {
		var n int
		var at string
		if _, err := fmt.Sscanf(line, "f%d active %s", &n, &at); err != nil || !strings.Contains(line, "active") {
			continue
		}
		d, err := time.ParseDuration(at)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	return all
}
