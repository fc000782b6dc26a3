// SPDX-License-Identifier: Apache-2.0

// Package regular opens plain files and nothing else. What others made may lie under the
// name of a file: a pipe that nobody writes to, a device without an end, a directory.
package regular

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

var (
	// ErrNotRegular: there is something of this name, but no plain file.
	ErrNotRegular = errors.New("not a plain file")
	// ErrTooLarge: the file is larger than its reader takes.
	ErrTooLarge = errors.New("too large")
)

// Open opens a plain file, or what a link to one leads to, for reading. It waits for nobody.
func Open(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	return os.Open(path)
}

// Read reads a plain file of at most so many bytes.
func Read(path string, most int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("%w: more than %d bytes", ErrTooLarge, most)}
	}
	return text, err
}
