// SPDX-License-Identifier: Apache-2.0

package history

import (
	"encoding/binary"
	"errors"
)

// errBlock is content that no writer makes: damage that the checksum did not see.
var errBlock = errors.New("malformed block")

// decoder turns blocks into events. It keeps its memory from block to block; the zero
// value is ready. Whatever it is given, it neither panics nor makes more than maxRows events.
type decoder struct {
	events []Event         // of the block
	models [maxKinds]Event // what is the same in all rows of a kind
	kinds  [maxRows]Kind
	rows   [maxRows]uint16
	starts [maxKinds + 1]int
	values [maxRows]int64
	keys   [maxRows]int64
	latest latest
	fields Fields           // wanted
	varies [maxKinds]Fields // columns that differ from row to row
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

// begins is the time of the first event.
func (v *blockView) begins() int64 {
	u, _ := binary.Uvarint(v.t)
	return unzigzag(u)
}

func kindsOf(rows []byte) KindSet {
	f := fields{rest: rows}
	if f.next() && f.field == rowsKind && f.number < maxKinds {
		return Only(Kind(f.number))
	}
	return AllKinds
}

// block decodes the fields wanted of the events of the kinds wanted, into the memory of
// others if there is room.
func (d *decoder) block(into []Event, v blockView, want KindSet, fields Fields, task uint16) ([]Event, error) {
	d.events, d.fields = into, fields
	ok := d.sort(v, want, task) && d.each(v, want, d.constant) && d.times(v, want) && d.each(v, want, d.column)
	if !ok {
		return into[:0], errBlock
	}
	return d.events, nil
}

// sort reads the kinds, and makes room for the events.
func (d *decoder) sort(v blockView, want KindSet, task uint16) bool {
	var counts [maxKinds]int
	if !readKinds(d.kinds[:v.n], &counts, v.kinds) {
		return false
	}
	total := 0
	for k, n := range counts {
		d.starts[k] = total
		if want.Has(Kind(k)) {
			total += n
		}
		d.models[k], d.varies[k] = Event{Kind: Kind(k), Task: task}, 0
	}
	d.starts[maxKinds] = total
	if cap(d.events) < total {
		d.events = make([]Event, max(total, min(2*total, maxRows)))
	}
	d.events = d.events[:total]
	return true
}

// each visits the columns of the kinds wanted.
func (d *decoder) each(v blockView, want KindSet, visit func(k Kind, i int, data []byte) bool) bool {
	all := fields{rest: v.rows}
	for all.next() {
		if all.field != blockRows {
			continue
		}
		f := fields{rest: all.data}
		if !f.next() || f.field != rowsKind || f.number >= maxKinds {
			return false
		}
		k := Kind(f.number)
		for want.Has(k) && f.next() {
			if i := columnOf(f.field); i != noColumn && d.fields.hasColumn(i) && !visit(k, i, f.data) {
				return false
			}
		}
		if f.bad {
			return false
		}
	}
	return !all.bad
}

// constant puts a column that is the same in all rows into the model of its kind.
func (d *decoder) constant(k Kind, i int, data []byte) bool {
	c := &columns[i]
	if value, ok := constant(c, data); ok {
		c.set(&d.models[k], value)
	} else {
		d.varies[k] |= 1 << i
	}
	return true
}

// constant tells whether a column holds a value and no difference after it.
func constant(c *column, data []byte) (int64, bool) {
	u, size := binary.Uvarint(data)
	return unzigzag(u), c.per == noColumn && size > 0 && size == len(data)-1 && data[size] == 0
}

// times makes the events after the models, and lists the rows of each kind.
func (d *decoder) times(v blockView, want KindSet) bool {
	values := d.values[:v.n]
	if d.fields&FieldT == 0 {
		clear(values)
	} else if !readColumn(values, v.t, asSums) {
		return false
	}
	next := d.starts
	at := 0
	for i, t := range values {
		k := d.kinds[i] % maxKinds
		if !want.Has(k) {
			continue
		}
		e := &d.events[at]
		*e = d.models[k]
		e.T = t
		d.rows[next[k]] = uint16(at)
		next[k]++
		at++
	}
	return true
}

// column fills in a column that differs from row to row.
func (d *decoder) column(k Kind, i int, data []byte) bool {
	if !d.varies[k].hasColumn(i) {
		return true
	}
	c := &columns[i]
	rows := d.rows[d.starts[k]:d.starts[k+1]]
	values := d.values[:len(rows)]
	apart := c.per != noColumn && d.varies[k].hasColumn(c.per)
	as := asSums
	if apart {
		as = asDifferences
	}
	if !readColumn(values, data, as) {
		return false
	}
	if apart {
		keys := d.keys[:len(rows)]
		columns[c.per].gather(keys, d.events, rows)
		d.latest.sums(values, keys)
	}
	c.scatter(d.events, rows, values)
	return true
}
