// SPDX-License-Identifier: Apache-2.0

package history

// maxRows bounds the rows of a block; every block of a segment but the last has as many.
const maxRows = 4096

// Numbers of the schema's fields.
const (
	frameHead   = 1
	frameBlock  = 2
	frameNames  = 3
	frameFooter = 4

	blockOrdinal = 1
	blockFirst   = 2
	blockN       = 3
	blockKinds   = 4
	blockT       = 5
	blockRows    = 6

	rowsKind = 1
)

// encoder turns events into blocks. It keeps its memory from block to block; the zero
// value is ready.
type encoder struct {
	rows   [maxRows]uint16 // numbers of rows, kind by kind
	starts [maxKinds + 1]int
	unions [maxKinds]Event // all bits set in the rows of a kind
	values [maxRows]int64
	keys   [maxRows]int64
	latest latest
	buffer []byte // of the frame
}

// block appends the message Frame with a Block of the events, of which there are at most
// maxRows: the ordinal-th of its segment, with first events before it.
func (w *encoder) block(b []byte, events []Event, ordinal, first uint64) []byte {
	w.sort(events)
	b = appendTag(b, frameBlock, wireBytes)
	start := len(b)
	b = appendNumber(b, blockOrdinal, ordinal)
	b = appendNumber(b, blockFirst, first)
	b = appendNumber(b, blockN, uint64(len(events)))
	b = appendTag(b, blockKinds, wireBytes)
	kinds := len(b)
	b = wrap(appendKinds(b, events), kinds)
	b = w.times(b, events)
	for k := range Kind(maxKinds) {
		if rows := w.rows[w.starts[k]:w.starts[k+1]]; len(rows) > 0 {
			b = w.kind(b, k, events, rows)
		}
	}
	return wrap(b, start)
}

// sort lists the rows of each kind and gathers which columns a kind uses.
func (w *encoder) sort(events []Event) {
	w.unions = [maxKinds]Event{}
	var counts [maxKinds]int
	for i := range events {
		k := events[i].Kind % maxKinds
		counts[k]++
		union, event := words(&w.unions[k]), words(&events[i])
		for j := range union {
			union[j] |= event[j]
		}
	}
	total := 0
	for k, n := range counts {
		w.starts[k] = total
		counts[k] = total
		total += n
	}
	w.starts[maxKinds] = total
	for i := range events {
		k := events[i].Kind % maxKinds
		w.rows[counts[k]] = uint16(i)
		counts[k]++
	}
}

func (w *encoder) times(b []byte, events []Event) []byte {
	values := w.values[:len(events)]
	for i := range events {
		values[i] = events[i].T
	}
	differences(values)
	return appendColumn(b, blockT, values)
}

func (w *encoder) kind(b []byte, k Kind, events []Event, rows []uint16) []byte {
	b = appendTag(b, blockRows, wireBytes)
	start := len(b)
	b = appendNumber(b, rowsKind, uint64(k))
	union := w.unions[k : k+1]
	var used [1]int64
	for i := range columns {
		c := &columns[i]
		if c.gather(used[:], union, []uint16{0}); used[0] == 0 {
			continue
		}
		values := w.values[:len(rows)]
		c.gather(values, events, rows)
		w.differences(c, values, events, rows)
		b = appendColumn(b, c.field, values)
	}
	return wrap(b, start)
}

func (w *encoder) differences(c *column, values []int64, events []Event, rows []uint16) {
	if c.per == noColumn {
		differences(values)
		return
	}
	keys := w.keys[:len(rows)]
	columns[c.per].gather(keys, events, rows)
	w.latest.differences(values, keys)
}

// appendColumn writes rule 2: what repeats the last difference is left out, and a column
// of zeros altogether.
func appendColumn(b []byte, field uint64, deltas []int64) []byte {
	n := len(deltas)
	for n > 1 && deltas[n-1] == deltas[n-2] {
		n--
	}
	if n == 0 || n == 1 && deltas[0] == 0 {
		return b
	}
	b = appendTag(b, field, wireBytes)
	start := len(b)
	return wrap(appendDeltas(b, deltas[:n]), start)
}
