// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/internal/testenv"
)

// soak is how many messages the tests of memory go through: a hundred million in
// the nightly tier (minutes), else as many as take a second or two.
func soak(short uint64) uint64 {
	if testenv.Soaking() {
		return 100_000_000
	}
	return short
}

// feed judges messages of a traffic, and returns the most that was in use meanwhile.
func feed(j *Judge, f *traffic, messages uint64) (peak int64) {
	const looks = 40
	for range looks {
		for range messages / trafficBatch / looks {
			observeAll(j, f.next())
		}
		peak = max(peak, heap())
	}
	return peak
}

func observeAll(j *Judge, events []history.Event) {
	for i := range events {
		j.Observe(&events[i])
	}
}

// feedEvents judges events of a traffic, at least so many.
func feedEvents(j *Judge, f *traffic, events int) {
	for events > 0 {
		all := f.next()
		events -= len(all)
		observeAll(j, all)
	}
}

// heap is what is in use, after what is not was collected.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestMemoryOfAnomalies holds a check to its ceilings: 64 MiB for a hundred million
// messages of which one in a thousand is odd, 256 MiB whatever their share.
func TestMemoryOfAnomalies(t *testing.T) {
	for _, c := range []struct {
		profile   string
		odd, lose uint64
		messages  uint64
		ceiling   int64 // bytes, of a hundred million
	}{
		{kafka, 1000, 0, soak(400_000), 64 << 20},
		{sqs, 1000, 0, soak(400_000), 64 << 20},
		{sqs, 37_000, 0, soak(400_000), 256 << 20},
		{sqs, 500_000, 500_000, soak(400_000), 256 << 20},
		{kafka, 1_000_000, 0, soak(400_000), 256 << 20},
	} {
		t.Run(fmt.Sprintf("%s/%d odd %d lost", c.profile, c.odd, c.lose), func(t *testing.T) {
			f := newTraffic(c.profile)
			f.odd, f.lose = c.odd, c.lose
			j := judgeWithAll(&f.t.header, f.t.name)
			before := heap()
			grown := feed(j, f, c.messages) - before
			// What does not grow with the run is allowed in full.
			limit := min(24<<20+c.ceiling*int64(c.messages)/100_000_000, c.ceiling)
			if grown > limit {
				t.Errorf("%d messages in %.1f MiB, more than %.1f", c.messages, float64(grown)/(1<<20), float64(limit)/(1<<20))
			}
			t.Logf("%d messages in %.1f MiB", c.messages, float64(grown)/(1<<20))
			runtime.KeepAlive(j)
		})
	}
}

// TestSettledSoakStandsStill: a clean run of ten times the length takes no more memory; in
// a soak that is a billion events.
func TestSettledSoakStandsStill(t *testing.T) {
	for _, profile := range []string{kafka, sqs} {
		t.Run(profile, func(t *testing.T) {
			f := newTraffic(profile)
			j := judgeWithAll(&f.t.header, f.t.name)
			events := 10 * int(soak(200_000))
			feedEvents(j, f, events/10)
			before := heap()
			feedEvents(j, f, events-events/10)
			grown := heap() - before
			if grown > 1<<20 {
				t.Errorf("%d events after %d cost %.2f MiB", events-events/10, events/10, float64(grown)/(1<<20))
			}
			t.Logf("%d events: %.2f MiB at a tenth of them, %.2f MiB more at the end", events, float64(before)/(1<<20), float64(grown)/(1<<20))
			runtime.KeepAlive(j)
		})
	}
}
