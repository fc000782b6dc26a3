// SPDX-License-Identifier: Apache-2.0

package history

import "errors"

// errBlock is content that no writer makes: damage that the checksum did not see.
var errBlock = errors.New("malformed block")

// decoder turns blocks into events. It keeps its memory from block to block; the zero
// value is ready. Whatever it is given, it neither panics nor holds more than maxRows events.
type decoder struct {
	events []Event
	kinds  [maxRows]Kind
	rows   [maxRows]uint16
	starts [maxKinds + 1]int
	values [maxRows]int64
	keys   [maxRows]int64
	latest latest
}

// blockView is a block as it lies in its frame, nothing decoded.
type blockView struct {
	ordinal, first uint64
	n              int
	kinds, t       []byte
	rows           []byte // what follows t: fields Rows
	holds          KindSet
}

// viewBlock finds the parts of a message Block.
func viewBlock(message []byte) (v blockView, err error) {
	f := fields{rest: message}
	for before := f.rest; f.next(); before = f.rest {
		switch f.field {
		case blockOrdinal:
			v.ordinal = f.number
		case blockFirst:
			v.first = f.number
		case blockN:
			v.n = int(min(f.number, maxRows+1))
		case blockKinds:
			v.kinds = f.data
		case blockT:
			v.t = f.data
		case blockRows:
			if v.rows == nil {
				v.rows = before
			}
			v.holds |= kindsOf(f.data)
		}
	}
	if f.bad || v.n > maxRows {
		return v, errBlock
	}
	return v, nil
}

func kindsOf(rows []byte) KindSet {
	f := fields{rest: rows}
	if f.next() && f.field == rowsKind && f.number < maxKinds {
		return Only(Kind(f.number))
	}
	return AllKinds
}

// block decodes the events of the kinds wanted, valid until the next call.
func (d *decoder) block(v blockView, want KindSet, task uint16) ([]Event, error) {
	var counts [maxKinds]int
	if !readKinds(d.kinds[:v.n], &counts, v.kinds) {
		return nil, errBlock
	}
	total := 0
	for k := range counts {
		d.starts[k] = total
		if want.Has(Kind(k)) {
			total += counts[k]
		}
	}
	d.starts[maxKinds] = total
	if !d.times(v, want, total, task) {
		return nil, errBlock
	}
	f := fields{rest: v.rows}
	for f.next() {
		if f.field == blockRows && !d.kind(f.data, want) {
			return nil, errBlock
		}
	}
	return d.events, nil
}

// times makes the events, with time, kind and task alone, and lists the rows of each kind.
func (d *decoder) times(v blockView, want KindSet, total int, task uint16) bool {
	values := d.values[:v.n]
	if !readColumn(values, v.t) {
		return false
	}
	if cap(d.events) < total {
		d.events = make([]Event, max(total, min(2*total, maxRows)))
	}
	d.events = d.events[:total]
	next := d.starts
	at, t := 0, int64(0)
	for i, delta := range values {
		t += delta
		k := d.kinds[i]
		if !want.Has(k) {
			continue
		}
		d.events[at] = Event{T: t, Kind: k, Task: task}
		d.rows[next[k]] = uint16(at)
		next[k]++
		at++
	}
	return true
}

// kind fills in the columns of one kind.
func (d *decoder) kind(message []byte, want KindSet) bool {
	f := fields{rest: message}
	if !f.next() || f.field != rowsKind || f.number >= maxKinds {
		return false
	}
	k := Kind(f.number)
	if !want.Has(k) {
		return true
	}
	rows := d.rows[d.starts[k]:d.starts[k+1]]
	for f.next() {
		i := columnOf(f.field)
		if i == noColumn {
			continue
		}
		if !d.column(&columns[i], rows, f.data) {
			return false
		}
	}
	return !f.bad
}

func (d *decoder) column(c *column, rows []uint16, data []byte) bool {
	values := d.values[:len(rows)]
	if !readColumn(values, data) {
		return false
	}
	if c.per == noColumn {
		sums(values)
	} else {
		keys := d.keys[:len(rows)]
		columns[c.per].gather(keys, d.events, rows)
		d.latest.sums(values, keys)
	}
	c.scatter(d.events, rows, values)
	return true
}

// readColumn undoes appendColumn.
func readColumn(deltas []int64, data []byte) bool {
	n := readDeltas(deltas, data)
	if n < 0 {
		return false
	}
	last := int64(0)
	if n > 0 {
		last = deltas[n-1]
	}
	for i := n; i < len(deltas); i++ {
		deltas[i] = last
	}
	return true
}
