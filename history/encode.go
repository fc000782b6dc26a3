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
	framePacked = 5

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
	kinds  [maxRows]Kind
	rows   [maxRows]uint16 // numbers of rows, kind by kind
	starts [maxKinds + 1]int
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
	b = wrap(appendKinds(b, w.kinds[:len(events)]), kinds)
	b = w.times(b, events)
	for k := range Kind(maxKinds) {
		if rows := w.rows[w.starts[k]:w.starts[k+1]]; len(rows) > 0 {
			b = w.kind(b, k, events, rows)
		}
	}
	return wrap(b, start)
}

// sort lists the rows of each kind.
func (w *encoder) sort(events []Event) {
	var counts [maxKinds]int
	kinds := w.kinds[:len(events)]
	for i := range events {
		k := events[i].Kind % maxKinds
		kinds[i] = k
		counts[k]++
	}
	total := 0
	for k, n := range counts {
		w.starts[k] = total
		counts[k] = total
		total += n
	}
	w.starts[maxKinds] = total
	for i, k := range kinds {
		w.rows[counts[k%maxKinds]] = uint16(i)
		counts[k%maxKinds]++
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
	first, varies := &events[rows[0]], varying(events, rows)
	for i := range columns {
		c := &columns[i]
		if c.get(&varies) != 0 {
			b = appendColumn(b, c.field, w.differences(c, events, rows))
		} else if v := c.get(first); v != 0 {
			b = appendColumn(b, c.field, w.constant(c, v, events, rows))
		}
	}
	return wrap(b, start)
}

// constant is differences of a column that is the same in all rows.
func (w *encoder) constant(c *column, v int64, events []Event, rows []uint16) []int64 {
	if c.per != noColumn {
		return w.differences(c, events, rows)
	}
	w.values[0], w.values[1] = v, 0
	return w.values[:min(len(rows), 2)]
}

func (w *encoder) differences(c *column, events []Event, rows []uint16) []int64 {
	values := w.values[:len(rows)]
	c.gather(values, events, rows)
	if c.per == noColumn {
		differences(values)
		return values
	}
	keys := w.keys[:len(rows)]
	columns[c.per].gather(keys, events, rows)
	w.latest.differences(values, keys)
	return values
}
