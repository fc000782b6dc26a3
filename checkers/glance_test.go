// SPDX-License-Identifier: Apache-2.0

package checkers

import "testing"

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
			r, err := New(&run.Header, run.Name).judge(run)
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

func BenchmarkGlance(b *testing.B) {
	for _, profile := range []string{kafka, sqs} {
		f := newTraffic(profile)
		f.overlap, f.odd = true, 1000
		run := f.record(b, 2000)
		b.Run(profile, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := GlanceAt(run); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(run.Integrity.Events), "ns/event")
		})
	}
}
