// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"testing"

	"github.com/seed-720a3c77/harness/internal/testenv"
)

// TestGlanceIsWhatCheckFinds: the same counts, from a fraction of the events.
func TestGlanceIsWhatCheckFinds(t *testing.T) {
	for _, profile := range []string{kafka, sqs, rabbitmq} {
		for _, odd := range []uint64{0, 1000, 400_000} {
			f := newTraffic(profile)
			f.overlap, f.odd, f.lose = true, odd, odd/2
			run := f.record(t, 400)
			g, err := GlanceAt(run)
			if err != nil {
				t.Fatal(err)
			}
			r, err := judgeWithAll(&run.Header, run.Name).judge(run)
			if err != nil {
				t.Fatal(err)
			}
			missing := r.Counts["lost"] + r.Counts["undrained"] + r.Counts["dead-lettered"]
			if g.Acked != r.Counts["acked"] || g.Missing != missing || g.Again != r.Counts["effect-duplicates"] {
				t.Errorf("%s, %d of a million odd: %+v, want %v", profile, odd, g, r.Counts)
			}
			if odd > 0 && g.Missing == 0 {
				t.Errorf("%s: nothing was lost", profile)
			}
		}
	}
}

// TestGlanced: one more time, or as often as the store says in all.
func TestGlanced(t *testing.T) {
	for _, c := range []struct{ before, acked, times, want uint8 }{
		{0, glanceAcked, 0, glanceAcked},
		{glanceAcked, 0, 1, glanceOnce},
		{glanceOnce, 0, 1, glanceAcked | 2},
		{glanceOnce, 0, glanceStands | 1, glanceOnce}, // done again and kept once: an upsert
		{0, 0, glanceStands | 3, 3},
		{glanceAcked | glanceTimes, 0, 1, glanceAcked | glanceTimes},
		{glanceOnce, 0, 0, glanceOnce},
	} {
		if got := glanced(c.before, c.acked, c.times); got != c.want {
			t.Errorf("glanced(%#x, %#x, %#x) = %#x, want %#x", c.before, c.acked, c.times, got, c.want)
		}
	}
}

func BenchmarkGlance(b *testing.B) {
	for _, profile := range []string{kafka, sqs} {
		f := newTraffic(profile)
		f.overlap, f.odd = true, 1000
		run := f.record(b, 2000)
		b.Run(profile, func(b *testing.B) {
			b.ReportAllocs()
			var cpu testenv.LeastCPU
			for b.Loop() {
				cpu.Begin()
				if _, err := GlanceAt(run); err != nil {
					b.Fatal(err)
				}
				cpu.End()
			}
			cpu.PerEvent(b, run.Integrity.Events)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(run.Integrity.Events), "ns/event")
		})
	}
}
