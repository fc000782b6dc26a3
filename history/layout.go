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

// noteDifference adds to varies the bits in which two events differ.
func noteDifference(varies, first, e *eventWords) {
	for i := range varies {
		varies[i] |= first[i] ^ e[i]
	}
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
