// SPDX-License-Identifier: Apache-2.0

package history

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/seed-720a3c77/harness/internal/regular"
)

var errOpenBlock = errors.New("not the open block of this version and machine")

// readOpenBlock reads what a process left of the block that it had open.
func readOpenBlock(path string) (page openPageWords, slots []Event, err error) {
	f, err := regular.Open(path)
	if err != nil {
		return page, nil, fmt.Errorf("history: %w", err)
	}
	defer f.Close()
	memory := unsafe.Slice((*byte)(unsafe.Pointer(&page)), unsafe.Sizeof(page))
	if _, err := f.ReadAt(memory, 0); err != nil {
		return openPageWords{}, nil, fmt.Errorf("history: %w", err)
	}
	n := page.state & (1<<stateBits - 1)
	if page.magic != openMagic || page.layout != layout() || n > maxRows {
		return openPageWords{}, nil, fmt.Errorf("history: %s: %w", path, errOpenBlock)
	}
	slots = make([]Event, n)
	if _, err := f.ReadAt(rawEvents(slots), openPage); n > 0 && err != nil {
		return openPageWords{}, nil, fmt.Errorf("history: %w", err)
	}
	for i := range slots {
		if slots[i].Kind-1 >= maxKinds-1 {
			return openPageWords{}, nil, fmt.Errorf("history: %s: %w", path, errOpenBlock)
		}
	}
	return page, slots, nil
}
