// SPDX-License-Identifier: Apache-2.0

package history

import (
	"bytes"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-720a3c77/harness/contract"
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
	return decodeBlock(t, d, payload, want)
}

type fataler interface{ Fatal(...any) }

func decodeBlock(t fataler, d *decoder, payload []byte, want KindSet) []Event {
	v, err := new(unpacker).blockOf(payload)
	if err != nil {
		t.Fatal(err)
	}
	events, err := d.block(d.events, v, want, AllFields, 0)
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

// TestShapesRoundTrip has what rule 2 must get right: constants, progressions, single
// values that break them first or last, and all of that for 1 to 100 rows.
func TestShapesRoundTrip(t *testing.T) {
	shapes := map[string]func(i, n int) int64{
		"zeros":          func(i, n int) int64 { return 0 },
		"constant":       func(i, n int) int64 { return -7 },
		"progression":    func(i, n int) int64 { return int64(3 * (i + 1)) },
		"from 0":         func(i, n int) int64 { return int64(i) },
		"falling":        func(i, n int) int64 { return int64(-i) << 40 },
		"last differs":   func(i, n int) int64 { return int64(1 - min(n-1-i, 1)) },
		"first differs":  func(i, n int) int64 { return int64(1 - min(i, 1)) },
		"extremes":       func(i, n int) int64 { return math.MinInt64 + int64(i%2)*math.MaxInt64 },
		"by turns":       func(i, n int) int64 { return int64(i % 2) },
		"squares":        func(i, n int) int64 { return int64(i * i) },
		"two, then zero": func(i, n int) int64 { return int64(2 * min(max(0, 2-i), 1)) },
	}
	var w encoder
	var d decoder
	for name, shape := range shapes {
		for n := 1; n <= 100; n++ {
			want := make([]Event, n)
			for i := range want {
				v := shape(i, n)
				want[i] = Event{
					Kind: PublishStart, T: v, Seq: uint64(v), Off: v, D: v, Until: v, Producer: uint32(v), Session: uint32(v),
					Place: uint32(v), Key: uint32(v), Op: uint32(v), N: uint32(v), CRC: uint32(v), Text: uint32(v), Gen: uint32(v),
					Attempt: uint16(v), Answer: contract.Answer(v), Class: contract.Class(v), Flags: Flag(v), Verb: uint8(v),
				}
			}
			if got := mustDecode(t, &d, w.block(nil, want, 0, 0), AllKinds); !slices.Equal(got, want) {
				t.Errorf("%s of %d rows: got %+v", name, n, got)
			}
		}
	}
}

// TestManyContextsRoundTrip has more producers and places than any small table holds.
func TestManyContextsRoundTrip(t *testing.T) {
	var w encoder
	var d decoder
	for _, stride := range []uint32{1, 1 << 13, 1 << 20} {
		want := make([]Event, maxRows)
		for i := range want {
			who := uint32(i%1000) * stride
			want[i] = Event{Kind: Delivery, T: int64(i), Producer: who, Place: who + 1, Seq: uint64(i / 1000), Off: int64(i/1000) - 1}
		}
		if got := mustDecode(t, &d, w.block(nil, want, 0, 0), AllKinds); !slices.Equal(got, want) {
			t.Errorf("1,000 producers, every %d-th number: not what was written", stride)
		}
	}
}

// drawEvent draws events that are alike, as real ones are, or not at all.
func drawEvent(t *rapid.T) Event {
	small := rapid.Uint64Range(0, 3)
	word := rapid.OneOf(small, small, rapid.Uint64())
	draw := func(name string) uint64 { return word.Draw(t, name) }
	return Event{
		Kind: Kind(rapid.IntRange(1, int(Kinds)-1).Draw(t, "kind")), T: int64(draw("t")),
		Seq: draw("seq"), Off: int64(draw("off")), D: int64(draw("d")), Until: int64(draw("until")),
		Producer: uint32(draw("producer")), Session: uint32(draw("session")), Place: uint32(draw("place")),
		Key: uint32(draw("key")), Op: uint32(draw("op")), N: uint32(draw("n")), CRC: uint32(draw("crc")),
		Text: uint32(draw("text")), Gen: uint32(draw("gen")), Attempt: uint16(draw("attempt")),
		Answer: contract.Answer(draw("answer")), Class: contract.Class(draw("class")), Flags: Flag(draw("flags")), Verb: uint8(draw("verb")),
	}
}

func TestAnyBlockRoundTrips(t *testing.T) {
	var w encoder
	var d decoder
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.Custom(drawEvent), 0, 40).Draw(t, "events")
		kinds := KindSet(rapid.Uint64().Draw(t, "kinds"))
		block := w.block(nil, want, 0, 0)
		if got := decodeBlock(t, &d, block, AllKinds); !slices.Equal(got, want) {
			t.Fatalf("got %+v", got)
		}
		if !bytes.Equal(new(encoder).block(nil, want, 0, 0), block) {
			t.Fatal("the same events gave other bytes")
		}
		some := slices.DeleteFunc(slices.Clone(want), func(e Event) bool { return !kinds.Has(e.Kind) })
		if got := decodeBlock(t, &d, block, kinds); !slices.Equal(got, some) {
			t.Fatalf("of kinds %x got %+v", kinds, got)
		}
	})
}

// TestColumnsAreTheFieldsOfAnEvent compares the loops by offset with plain reflection.
func TestColumnsAreTheFieldsOfAnEvent(t *testing.T) {
	apart := map[string]bool{"T": true, "Task": true, "Kind": true}
	kind := reflect.TypeFor[Event]()
	if want := kind.NumField() - len(apart); len(columns) != want {
		t.Fatalf("%d columns, want %d", len(columns), want)
	}
	for i := range columns {
		c := &columns[i]
		var e Event
		c.set(&e, 0x7b)
		found := 0
		for j := range kind.NumField() {
			f := kind.Field(j)
			if reflect.ValueOf(e).Field(j).IsZero() {
				continue
			}
			found++
			if f.Offset != c.offset || f.Type.Size() != c.width || apart[f.Name] {
				t.Errorf("column %s sets field %s", c.name, f.Name)
			}
		}
		if found != 1 || c.get(&e) != 0x7b || columnOf(c.field) != i {
			t.Errorf("column %s: %d fields set, %#x read", c.name, found, c.get(&e))
		}
	}
}
