// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"errors"
	"reflect"
	"runtime"
	"testing"

	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/internal/testenv"
)

func BenchmarkCheck(b *testing.B) {
	for _, profile := range []string{kafka, sqs, rabbitmq} {
		b.Run(profile, func(b *testing.B) {
			f := newTraffic(profile)
			j := judgeWithAll(&f.t.header, f.t.name)
			events := 0
			b.ReportAllocs()
			for b.Loop() {
				for i, all := 0, f.next(); i < len(all); i++ {
					j.Observe(&all[i])
					events++
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
		})
	}
}

// BenchmarkRun is a recorded run, read, merged and judged. An operation is some two
// million events.
func BenchmarkRun(b *testing.B) {
	for _, profile := range []string{kafka, sqs, rabbitmq} {
		f := newTraffic(profile)
		f.overlap, f.odd = true, 1000
		run := f.record(b, 2000)
		b.Run(profile, func(b *testing.B) {
			b.ReportAllocs()
			var cpu testenv.LeastCPU
			for b.Loop() {
				cpu.Begin()
				j := judgeWithAll(&run.Header, run.Name)
				if _, err := j.judge(run); err != nil {
					b.Fatal(err)
				}
				cpu.End()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(run.Integrity.Events), "ns/event")
			cpu.PerEvent(b, run.Integrity.Events)
		})
	}
}

// TestNoAllocationPerEvent: of twice the events a check makes no more than a few pages and
// chunks of messages more.
func TestNoAllocationPerEvent(t *testing.T) {
	for _, profile := range []string{kafka, sqs, rabbitmq} {
		for name, read := range map[string]func(*history.Run) error{
			"check":  func(run *history.Run) error { _, err := judgeWithAll(&run.Header, run.Name).judge(run); return err },
			"glance": func(run *history.Run) error { _, err := GlanceAt(run); return err },
		} {
			short, events := allocations(t, profile, 200, read)
			long, _ := allocations(t, profile, 400, read)
			if long-short > events/200 {
				t.Errorf("%s, %s: %.0f allocations more for %.0f events more", profile, name, long-short, events)
			}
		}
	}
}

// allocations counts them in a run of so many batches.
func allocations(t *testing.T, profile string, batches int, read func(*history.Run) error) (allocations, events float64) {
	t.Helper()
	f := newTraffic(profile)
	f.overlap, f.odd = true, 1000
	run := f.record(t, batches)
	var failed error
	n := testing.AllocsPerRun(1, func() { failed = errors.Join(failed, read(run)) })
	if failed != nil {
		t.Fatal(failed)
	}
	return n, float64(run.Integrity.Events)
}

// TestTrafficIsWhatItSays: the planted findings are all that is found.
func TestTrafficIsWhatItSays(t *testing.T) {
	for _, profile := range []string{kafka, sqs, rabbitmq} {
		f := newTraffic(profile)
		f.overlap, f.odd = true, 50_000
		run := f.record(t, 100)
		j := judgeWithAll(&run.Header, run.Name)
		r, err := j.judge(run)
		if err != nil {
			t.Fatal(err)
		}
		found := "effect-duplicates"
		if f.log {
			found = "recovered"
		}
		if f.planted < 300 || r.Counts[found] != f.planted || r.Counts["done"]+r.Counts["unknown"] != 10_000 {
			t.Errorf("%s: planted %d: %v", profile, f.planted, r.Counts)
		}
		for _, a := range r.Anomalies {
			if a.Name != found && a.Name != "redelivered" {
				t.Errorf("%s: %d %s, first %+v", profile, a.Count, a.Name, a.Examples[0])
			}
		}
	}
}

// TestPackedRunIsJudgedAlike: what old messages are reduced to is enough for every count.
func TestPackedRunIsJudgedAlike(t *testing.T) {
	for _, profile := range []string{kafka, sqs, rabbitmq} {
		f := newTraffic(profile)
		f.odd, f.lose = 200_000, 100_000
		run := f.record(t, 800)
		verdict := func(exact int) Result {
			j := judgeWithAll(&run.Header, run.Name)
			j.c.memory.exact = exact
			r, err := j.judge(run)
			if err != nil {
				t.Fatal(err)
			}
			if packed := len(j.c.memory.shapes.list) > 0; packed != (exact > 0) {
				t.Errorf("%s: packed is %t", profile, packed)
			}
			return r
		}
		packed, exact := verdict(2*exactOdd), verdict(0)
		if !reflect.DeepEqual(packed.Counts, exact.Counts) || !reflect.DeepEqual(packed.Ledger, exact.Ledger) || !reflect.DeepEqual(packed.Latency, exact.Latency) {
			t.Errorf("%s: %v\nwant %v", profile, packed.Counts, exact.Counts)
		}
	}
}

// TestMemoryFollowsWhatIsOutstanding runs a long clean history: what is settled must not
// be kept.
func TestMemoryFollowsWhatIsOutstanding(t *testing.T) {
	for _, profile := range []string{kafka, sqs, rabbitmq} {
		f := newTraffic(profile)
		j := judgeWithAll(&f.t.header, f.t.name)
		feed := func(batches int) uint64 {
			for range batches {
				for i, all := 0, f.next(); i < len(all); i++ {
					j.Observe(&all[i])
				}
			}
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		before := feed(200)
		after := feed(1000)
		if grown := int64(after) - int64(before); grown > 1<<20 {
			t.Errorf("%s: 100,000 settled messages cost %d KiB", profile, grown>>10)
		}
		r := j.Finish()
		wantFindings(t, &r, "")
		if r.Counts["done"] != 120_000 {
			t.Errorf("%s: done %d, want 120,000", profile, r.Counts["done"])
		}
	}
}
