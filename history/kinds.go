// SPDX-License-Identifier: Apache-2.0

package history

import "encoding/binary"

// maxKinds bounds kinds, also those of later versions, to what a KindSet holds.
const maxKinds = 64

// foresight predicts a kind: what followed the kind before it the last time.
type foresight struct {
	follows [maxKinds]Kind
	before  Kind
}

func (f *foresight) next() Kind { return f.follows[f.before] }

func (f *foresight) met(k Kind) {
	f.follows[f.before] = k
	f.before = k
}

// appendKinds writes rule 3: a pair (gap, kind) for each kind that was not foretold.
func appendKinds(b []byte, kinds []Kind) []byte {
	var seen foresight
	gap := uint64(0)
	for _, k := range kinds {
		if k == seen.next() {
			gap++
		} else {
			b = append(binary.AppendUvarint(b, gap), byte(k))
			gap = 0
		}
		seen.met(k)
	}
	return b
}

// readKinds fills kinds and counts them. It is false for data that is malformed, names
// no kind, or goes on after the last row.
func readKinds(kinds []Kind, counts *[maxKinds]int, data []byte) bool {
	var seen foresight
	row := 0
	for len(data) > 0 {
		gap, size := binary.Uvarint(data)
		if size <= 0 || size == len(data) || gap >= uint64(len(kinds)-row) {
			return false
		}
		k := Kind(data[size])
		if k == NoKind || k >= maxKinds {
			return false
		}
		data = data[size+1:]
		seen.foretold(kinds[row:row+int(gap)], counts)
		row += int(gap)
		seen.met(k)
		kinds[row] = k
		counts[k]++
		row++
	}
	seen.foretold(kinds[row:], counts)
	return counts[NoKind] == 0
}

// foretold fills in kinds that were all foretold. They go round in a circle, of which the
// first round is found kind by kind.
func (f *foresight) foretold(kinds []Kind, counts *[maxKinds]int) {
	for n := range kinds {
		k := f.next()
		if n > 0 && k == kinds[0] {
			f.before = repeat(kinds, n, counts)
			return
		}
		f.before = k
		kinds[n] = k
		counts[k]++
	}
}

// repeat goes on with the first kinds as often as there is room, and returns the last one.
func repeat(kinds []Kind, round int, counts *[maxKinds]int) Kind {
	rounds, left := len(kinds)/round-1, len(kinds)%round
	for n, k := range kinds[:round] {
		counts[k] += rounds
		if n < left {
			counts[k]++
		}
	}
	for n := round; n < len(kinds); {
		n += copy(kinds[n:], kinds[:n])
	}
	return kinds[len(kinds)-1]
}
