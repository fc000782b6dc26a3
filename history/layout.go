// SPDX-License-Identifier: Apache-2.0

package history

import "unsafe"

// This file is the only one that reaches into an Event by offset: one loop for all
// columns instead of one a column. Rows are below len(events), offsets come from the table of columns.

type stored interface {
	uint8 | uint16 | uint32 | uint64
}

const eventSize = unsafe.Sizeof(Event{})

func gatherAs[T stored](values []int64, events []Event, rows []uint16, offset uintptr) {
	base := unsafe.Pointer(unsafe.SliceData(events))
	for i, row := range rows {
		values[i] = int64(*(*T)(unsafe.Add(base, uintptr(row)*eventSize+offset)))
	}
}

func scatterAs[T stored](events []Event, rows []uint16, offset uintptr, values []int64) {
	base := unsafe.Pointer(unsafe.SliceData(events))
	for i, row := range rows {
		*(*T)(unsafe.Add(base, uintptr(row)*eventSize+offset)) = T(values[i])
	}
}

// rawEvents is the memory of events, to be written and read as it is.
func rawEvents(events []Event) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(events))), len(events)*int(eventSize))
}

// varying has the bits set in which rows differ, but for their times and tasks. Five words
// are looked at together: as many stay in registers.
func varying(events []Event, rows []uint16) (varies Event) {
	base := unsafe.Pointer(unsafe.SliceData(events))
	first, v := words(&events[rows[0]]), words(&varies)
	for half := 1; half < len(v); half += 5 {
		f := (*[5]uint64)(first[half:])
		f0, f1, f2, f3, f4 := f[0], f[1], f[2], f[3], f[4]
		var v0, v1, v2, v3, v4 uint64
		for _, row := range rows {
			e := (*[5]uint64)(unsafe.Add(base, uintptr(row)*eventSize+uintptr(half)*8))
			v0 |= e[0] ^ f0
			v1 |= e[1] ^ f1
			v2 |= e[2] ^ f2
			v3 |= e[3] ^ f3
			v4 |= e[4] ^ f4
		}
		*(*[5]uint64)(v[half:]) = [5]uint64{v0, v1, v2, v3, v4}
	}
	varies.Task = 0
	return varies
}

type eventWords [eventSize / 8]uint64

// words sees an event as numbers of 64 bits.
func words(e *Event) *eventWords { return (*eventWords)(unsafe.Pointer(e)) }

// get returns the column of one event, and set changes it.
func (c *column) get(e *Event) int64 {
	var value [1]int64
	c.gather(value[:], unsafe.Slice(e, 1), []uint16{0})
	return value[0]
}

func (c *column) set(e *Event, value int64) {
	c.scatter(unsafe.Slice(e, 1), []uint16{0}, []int64{value})
}

func (c *column) gather(values []int64, events []Event, rows []uint16) {
	switch c.width {
	case 8:
		gatherAs[uint64](values, events, rows, c.offset)
	case 4:
		gatherAs[uint32](values, events, rows, c.offset)
	case 2:
		gatherAs[uint16](values, events, rows, c.offset)
	default:
		gatherAs[uint8](values, events, rows, c.offset)
	}
}

func (c *column) scatter(events []Event, rows []uint16, values []int64) {
	switch c.width {
	case 8:
		scatterAs[uint64](events, rows, c.offset, values)
	case 4:
		scatterAs[uint32](events, rows, c.offset, values)
	case 2:
		scatterAs[uint16](events, rows, c.offset, values)
	default:
		scatterAs[uint8](events, rows, c.offset, values)
	}
}
