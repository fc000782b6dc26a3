// SPDX-License-Identifier: Apache-2.0

package history

import (
	"fmt"
	"os"
	"path/filepath"
)

// namesFile is names.seg, or names-PROCESS.seg of an attached process: a Head, then one
// frame a text. Interner's lock guards it.
type namesFile struct {
	file   *os.File
	buffer []byte
	count  uint64
	failed error
}

func namesFileName(process string) string {
	if process == "" {
		return "names" + segmentEnding
	}
	return "names-" + fileName(process) + segmentEnding
}

func createNames(dir, process string) (*namesFile, error) {
	f, _, err := createFile(filepath.Join(dir, namesFileName(process)), head{process: process, names: true})
	if err != nil {
		return nil, err
	}
	return &namesFile{file: f}, nil
}

// write adds a text. It is in the file when write returns: a process that is killed then
// leaves it behind. After an error every further write fails.
func (f *namesFile) write(table Table, ref uint32, text string) error {
	if f.failed != nil {
		return f.failed
	}
	if len(text) > maxPayload/2 {
		return fmt.Errorf("history: a text of %d bytes is too long to be a name", len(text))
	}
	f.buffer = endFrame(appendName(beginFrame(f.buffer[:0]), table, ref, text))
	if _, err := f.file.Write(f.buffer); err != nil {
		f.failed = fmt.Errorf("history: %w", err)
	}
	f.count++
	return f.failed
}

func appendName(b []byte, table Table, ref uint32, text string) []byte {
	b = appendTag(b, frameNames, wireBytes)
	names := len(b)
	b = appendTag(b, 1, wireBytes)
	name := len(b)
	b = appendNumber(b, 1, uint64(table))
	b = appendNumber(b, 2, uint64(ref))
	b = appendText(b, 3, text)
	return wrap(wrap(b, name), names)
}

func (f *namesFile) close() error {
	f.buffer = endFrame(appendFooter(beginFrame(f.buffer[:0]), f.count, 0))
	_, err := f.file.Write(f.buffer)
	if closing := f.file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return fmt.Errorf("history: %w", err)
	}
	return nil
}
