// SPDX-License-Identifier: Apache-2.0

package history

import (
	"slices"
	"testing"
)

// syntheticBlocks are full blocks, those of a producer and of a worker by turns.
func syntheticBlocks(n int) [][]Event {
	var open [syntheticTasks][]Event
	var full [][]Event
	newSynthetic(1).messages(n*maxRows/4, func(task int, e *Event) {
		open[task] = append(open[task], *e)
		if len(open[task]) == maxRows {
			full = append(full, open[task])
			open[task] = nil
		}
	})
	return full[:n]
}

func mustDecode(t testing.TB, d *decoder, payload []byte, want KindSet) []Event {
	t.Helper()
	f := fields{rest: payload}
	f.next()
	v, err := viewBlock(f.data)
	if err != nil {
		t.Fatal(err)
	}
	events, err := d.block(v, want, 0)
	if err != nil {
		t.Fatal(err)
	}
	return events
}

func TestSyntheticBlocksRoundTrip(t *testing.T) {
	var w encoder
	var d decoder
	for _, want := range syntheticBlocks(8) {
		got := mustDecode(t, &d, w.block(nil, want, 3, 3*maxRows), AllKinds)
		if !slices.Equal(got, want) {
			t.Fatal("a block is not what was written")
		}
		only := mustDecode(t, &d, w.block(nil, want, 3, 3*maxRows), Only(Delivery, PublishAnswer))
		want = slices.DeleteFunc(want, func(e Event) bool { return e.Kind != Delivery && e.Kind != PublishAnswer })
		if !slices.Equal(only, want) {
			t.Fatal("a projection is not what was written")
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	var w encoder
	blocks := syntheticBlocks(16)
	var buffer []byte
	size, i := 0, 0
	for b.Loop() {
		buffer = w.block(buffer[:0], blocks[i%len(blocks)], 0, 0)
		size += len(buffer)
		i++
	}
	perEvent(b, maxRows)
	b.ReportMetric(float64(size)/float64(i*maxRows), "B/event")
}

func BenchmarkDecode(b *testing.B) {
	var w encoder
	var d decoder
	var payloads [][]byte
	for _, events := range syntheticBlocks(16) {
		payloads = append(payloads, w.block(nil, events, 0, 0))
	}
	i := 0
	for b.Loop() {
		mustDecode(b, &d, payloads[i%len(payloads)], AllKinds)
		i++
	}
	perEvent(b, maxRows)
}

func perEvent(b *testing.B, events int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(events), "ns/event")
}
