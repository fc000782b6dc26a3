// SPDX-License-Identifier: Apache-2.0

package history

import (
	"errors"
	"fmt"
	"os"
	"unsafe"
)

// written keeps the open block on the heap and writes it at each effect, for systems and
// file systems without shared mappings. A process that is killed loses what it appended
// since its last effect, and a reader says so.
type written struct {
	heap
	file    *os.File
	page    openPageWords
	flushed int // slots in the file
}

func openWritten(path string) (openBlock, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644)
	if err != nil {
		return openBlock{}, err
	}
	w := &written{file: f, page: newOpenPage(0)}
	if err := w.flush(nil); err != nil {
		f.Close()
		return openBlock{}, err
	}
	return openBlock{keeper: w, state: &w.page.state, dropped: &w.page.dropped, written: w}, nil
}

// flush writes the slots that the file does not have, then the words that count them.
func (w *written) flush(slots []Event) error {
	if len(slots) > w.flushed {
		at := openPage + int64(w.flushed)*int64(eventSize)
		if _, err := w.file.WriteAt(rawEvents(slots[w.flushed:]), at); err != nil {
			return fmt.Errorf("write the open block: %w", err)
		}
		w.flushed = len(slots)
	}
	page := unsafe.Slice((*byte)(unsafe.Pointer(&w.page)), unsafe.Sizeof(w.page))
	if _, err := w.file.WriteAt(page, 0); err != nil {
		return fmt.Errorf("write the open block: %w", err)
	}
	return nil
}

func (w *written) close(sealed bool) error {
	return errors.Join(w.file.Close(), removeIf(sealed, w.file.Name()))
}

func removeIf(sealed bool, path string) error {
	if !sealed {
		return nil
	}
	return os.Remove(path)
}
