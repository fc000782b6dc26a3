// SPDX-License-Identifier: Apache-2.0

package history

import (
	"encoding/binary"
	"hash/fnv"
	"unsafe"
)

// openBlock is where the events of a block are until it is sealed: slots of one event
// each, and a word that tells how many are in use.
//
// In a directory it is a file beside the segment's: one page of words, then the slots, as
// they are in the memory of this machine. The file is there from the first event on and
// is removed when its segment is closed.
type openBlock struct {
	keeper
	state   *uint64  // the block's ordinal, and in the lower bits how many slots are in use
	dropped *uint64  // events that could not be recorded
	written *written // set if storing an event does not put it into the file
}

// keeper keeps the slots: on the heap, in a shared mapping, or on the heap and written to
// a file now and then.
type keeper interface {
	// grow returns more slots with the same content. Storing to them never fails.
	grow(slots []Event) ([]Event, error)
	// close gives everything back, and removes the file if all is in the segment.
	close(sealed bool) error
}

// openPageWords are the words in the file's first page.
type openPageWords struct {
	magic   uint64
	layout  uint64
	mapped  uint64 // 1: every store is in the file at once; 0: what was written now and then
	state   uint64
	dropped uint64
}

const (
	openPage  = 4096
	openSize  = openPage + maxRows*int64(eventSize)
	openMagic = 0x314e504f53494831 // "1HISOPN1" on a little-endian machine
	stateBits = 16                 // of the state that count slots

	// growth is how many slots are added at a time, so that a short segment stays small.
	growth = 512
)

func newOpenPage(mapped uint64) openPageWords {
	return openPageWords{magic: openMagic, layout: layout(), mapped: mapped}
}

// layout tells events of another build apart, whose slots mean something else.
func layout() uint64 {
	h := fnv.New64a()
	word := func(n uintptr) { h.Write(binary.LittleEndian.AppendUint64(nil, uint64(n))) }
	word(eventSize)
	word(unsafe.Offsetof(Event{}.T))
	word(unsafe.Offsetof(Event{}.Kind))
	for i := range columns {
		word(uintptr(columns[i].field))
		word(columns[i].offset)
	}
	return h.Sum64()
}

// heap keeps the open block of a recording in memory.
type heap struct{ memory *Memory }

func openHeap(memory *Memory) openBlock {
	words := new([2]uint64)
	return openBlock{keeper: heap{memory}, state: &words[0], dropped: &words[1]}
}

func (h heap) grow(slots []Event) ([]Event, error) {
	if kept := h.memory.more(slots); kept != nil {
		h.memory.give(slots)
		return kept, nil
	}
	more := make([]Event, min(max(32, 2*len(slots)), maxRows))
	copy(more, slots)
	h.memory.give(slots)
	return more, nil
}

func (heap) close(bool) error { return nil }
