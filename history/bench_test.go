// SPDX-License-Identifier: Apache-2.0

package history

import (
	"path/filepath"
	"testing"

	"github.com/seed-720a3c77/harness/internal/testenv"
)

// The figures of the history: make bench prints them. A synthetic run is recorded, sealed,
// opened, decoded, merged.

const benchMessages = 100_000 // a producer; 14 events each

type benchEvent struct {
	task  int
	event Event
}

func benchEvents() []benchEvent {
	var events []benchEvent
	newSynthetic(1).messages(benchMessages, func(task int, e *Event) {
		events = append(events, benchEvent{task, *e})
	})
	return events
}

func recordBench(b *testing.B, r *Recording, events []benchEvent) {
	b.Helper()
	var segments [syntheticTasks]*Segment
	for i := range segments {
		segments[i] = mustSegment(b, r, "task")
	}
	for i := range events {
		segments[events[i].task].Append(&events[i].event)
	}
	if err := r.Close(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkRecord(b *testing.B) {
	events := benchEvents()
	dir := b.TempDir()
	i := 0
	var cpu testenv.LeastCPU
	for b.Loop() {
		i++
		cpu.Begin()
		r, err := Create(filepath.Join(dir, string(rune('a'+i%26)), string(rune('a'+i/26))), Header{})
		if err != nil {
			b.Fatal(err)
		}
		recordBench(b, r, events)
		cpu.End()
	}
	cpu.PerEvent(b, int64(len(events)))
	perEvent(b, len(events))
}

func BenchmarkRecordInMemory(b *testing.B) {
	events := benchEvents()
	var cpu testenv.LeastCPU
	for b.Loop() {
		cpu.Begin()
		recordBench(b, NewMemory(Header{}), events)
		cpu.End()
	}
	cpu.PerEvent(b, int64(len(events)))
	perEvent(b, len(events))
}

func BenchmarkRead(b *testing.B) {
	events := benchEvents()
	dir := filepath.Join(b.TempDir(), "run")
	r, err := Create(dir, Header{})
	if err != nil {
		b.Fatal(err)
	}
	recordBench(b, r, events)
	run := mustOpen(b, dir)
	for _, bench := range []struct {
		name  string
		kinds KindSet
	}{{"All", AllKinds}, {"TwoKinds", Only(PublishAnswer, EffectResult)}, {"NoKind", Only(Phase)}} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			var cpu testenv.LeastCPU
			for b.Loop() {
				cpu.Begin()
				n := 0
				if err := run.Each(bench.kinds, func(*Event) { n++ }); err != nil {
					b.Fatal(err)
				}
				cpu.End()
			}
			cpu.PerEvent(b, int64(len(events)))
			perEvent(b, len(events))
		})
	}
	b.Run("Open", func(b *testing.B) {
		for b.Loop() {
			mustOpen(b, dir)
		}
		perEvent(b, len(events))
	})
}

func BenchmarkAppend(b *testing.B) {
	s := mustSegment(b, NewMemory(Header{}), "task")
	e := Event{Kind: Phase}
	b.ReportAllocs()
	for b.Loop() {
		for range maxRows - 1 {
			s.Append(&e)
		}
		s.n = 0
	}
	perEvent(b, maxRows)
}

func BenchmarkIntern(b *testing.B) {
	r := NewMemory(Header{})
	b.ReportAllocs()
	for b.Loop() {
		r.Intern(Keys, "customer-12345")
	}
}

func BenchmarkEncode(b *testing.B) {
	var w encoder
	blocks := syntheticBlocks(16)
	var buffer []byte
	var cpu testenv.LeastCPU
	size := 0
	for b.Loop() {
		cpu.Begin()
		size = 0
		for _, block := range blocks {
			buffer = w.block(buffer[:0], block, 0, 0)
			size += len(buffer)
		}
		cpu.End()
	}
	cpu.PerEvent(b, int64(len(blocks)*maxRows))
	perEvent(b, len(blocks)*maxRows)
	b.ReportMetric(float64(size)/float64(len(blocks)*maxRows), "B/event")
}

func BenchmarkDecode(b *testing.B) {
	var w encoder
	var d decoder
	var payloads [][]byte
	for _, events := range syntheticBlocks(16) {
		payloads = append(payloads, w.block(nil, events, 0, 0))
	}
	var cpu testenv.LeastCPU
	for b.Loop() {
		cpu.Begin()
		for _, payload := range payloads {
			mustDecode(b, &d, payload, AllKinds)
		}
		cpu.End()
	}
	cpu.PerEvent(b, int64(len(payloads)*maxRows))
	perEvent(b, len(payloads)*maxRows)
}

func perEvent(b *testing.B, events int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(events), "ns/event")
}

// BenchmarkSmallRun is a run of the explorer: 8 tasks with 60 events each.
func BenchmarkSmallRun(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		r := NewMemory(Header{})
		for range 8 {
			s := mustSegment(b, r, "task")
			for i := range int64(60) {
				s.Append(&Event{Kind: Delivery, T: i})
			}
		}
		r.Close()
		if err := r.Run().Each(AllKinds, func(*Event) {}); err != nil {
			b.Fatal(err)
		}
	}
}
