// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-720a3c77/harness/contract"
)

// TestPagesAreAMap compares pages with a map: whatever is kept is found again, and
// collapsing changes nothing but memory.
func TestPagesAreAMap(t *testing.T) {
	profile := tell(fifo).header.Profile
	sub := &subscription{effects: true}
	clean := cleanMessage(sub, &profile)
	far := rapid.Uint64Range(farAhead*pageSize*2, farAhead*pageSize*2+3)
	seqs := rapid.OneOf(rapid.Uint64Range(0, 40), rapid.Uint64Range(0, 4*pageSize), far)
	rapid.Check(t, func(t *rapid.T) { usePages(t, newPages(clean, new(memory)), seqs, clean) })
}

// TestPackedPagesAreAMap: nor does it change anything that old messages are reduced to
// their shapes, but for their times.
func TestPackedPagesAreAMap(t *testing.T) {
	profile := tell(fifo).header.Profile
	clean := cleanMessage(&subscription{effects: true}, &profile)
	seqs := rapid.OneOf(rapid.Uint64Range(0, 40), rapid.Uint64Range(0, 60*pageSize))
	rapid.Check(t, func(t *rapid.T) {
		p := newPages(clean, &memory{exact: 2 * exactOdd})
		p.rest = func(m *message) bool { return m.runs != 3 }
		for i := range rapid.SampledFrom([]uint8{0, seldom - 1, seldom}).Draw(t, "shapes before") {
			p.memory.shapes.of(&message{received: 2, count: i})
		}
		for i := range uint64(20) { // one message on each page, so that they grow old
			m, _ := p.edit(i * pageSize)
			p.keep(i*pageSize, m, false)
		}
		usePages(t, p, seqs, clean)
	})
}

func usePages(t *rapid.T, p *pages, seqs *rapid.Generator[uint64], clean message) {
	model := map[uint64]message{}
	for range rapid.IntRange(1, 100).Draw(t, "steps") {
		first, n := seqs.Draw(t, "seq"), rapid.SampledFrom([]uint64{1, 1, 1, pageSize}).Draw(t, "n")
		runs := rapid.Uint8Range(0, 3).Draw(t, "runs")
		for seq := first; seq < first+n; seq++ {
			m, _ := p.edit(seq)
			if want := model[seq]; *m != want {
				t.Fatalf("edit(%d) = %+v, want %+v", seq, *m, want)
			}
			*m = message{runs: runs, received: 1, place: uint32(runs) + 1, off: int64(seq)}
			model[seq] = *m
			if runs == 1 {
				*m = clean
				m.marks &^= isClean
				model[seq] = *m
			}
			p.keep(seq, m, runs == 1)
		}
	}
	compareWithMap(t, p, model, clean)
}

func compareWithMap(t *rapid.T, p *pages, model map[uint64]message, clean message) {
	clean.marks &^= isClean
	var wantClean int64
	var want, got []uint64
	for _, seq := range slices.Sorted(maps.Keys(model)) {
		if model[seq] == clean {
			wantClean++
		} else if model[seq] != (message{}) {
			want = append(want, seq)
		}
		m := p.get(seq)
		if m.marks &^= isClean; m != model[seq] {
			t.Fatalf("get(%d) = %+v, want %+v", seq, m, model[seq])
		}
	}
	gotClean := p.each(func(seq uint64, m *message) {
		if *m == clean {
			gotFar(&wantClean)
			return
		}
		got = append(got, seq)
	})
	if gotClean != wantClean || !slices.Equal(got, want) {
		t.Fatalf("each: %d clean, %v; want %d, %v", gotClean, got, wantClean, want)
	}
}

// gotFar: a clean message far beyond the others is visited like any other.
func gotFar(clean *int64) { *clean-- }

func TestPagesCollapse(t *testing.T) {
	profile := tell(fifo).header.Profile
	p := newPages(cleanMessage(&subscription{effects: true}, &profile), new(memory))
	for seq := range uint64(100 * pageSize) {
		m, _ := p.edit(seq)
		m.marks |= sawOK
		p.keep(seq, m, seq%1000 != 7)
	}
	open := 0
	for _, pg := range p.list {
		if pg != folded {
			open++
		}
	}
	if open > 3 || len(p.memory.pages) > 4 {
		t.Errorf("%d pages are open, %d free; want the last few", open, len(p.memory.pages))
	}
	var odd int
	clean := p.each(func(uint64, *message) { odd++ })
	if odd != 103 || clean != 100*pageSize-103 {
		t.Errorf("%d odd, %d clean", odd, clean)
	}
}

func TestWildIdsCostNothing(t *testing.T) {
	s := tell(fifo).publish("p0/0").work("w0", "p0/0", "p4000000000/18446744073709551615", "p7/900000000000").drained()
	r := s.check()
	wantFindings(t, &r, "from-nowhere p7/900000000000 p4000000000/18446744073709551615")
	if r.Verdict == contract.Pass {
		t.Error("a pass")
	}
}
