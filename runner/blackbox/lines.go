// SPDX-License-Identifier: Apache-2.0

package blackbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// longestLine bounds a line: a program that writes no line end fills no memory.
const longestLine = 1 << 20

// idOf reads {"id": ...}, with a text or a number. Other members are the program's own.
func idOf(line []byte) (string, error) {
	var told struct {
		ID any `json:"id"`
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if err := d.Decode(&told); err != nil {
		return "", err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return "", errors.New("there is more behind the object")
	}
	switch id := told.ID.(type) {
	case string:
		return id, nil
	case json.Number:
		return id.String(), nil
	}
	return "", errors.New(`it has no "id" that is a text or a number`)
}

// File is a Source that reads JSON lines from a file that the program appends to.
type File struct {
	path   string
	at     int64
	number int
}

// NewFile begins behind what is in the file already.
func NewFile(path string) *File {
	f := &File{path: path}
	if info, err := os.Stat(path); err == nil {
		f.at = info.Size()
	}
	return f
}

// Look implements Source. A file that is not there is an error, once more in the end.
func (f *File) Look(_ context.Context, tell Tell) error {
	text, err := f.more()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrEffects, err)
	}
	for {
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		if !whole {
			return nil
		}
		f.at += int64(len(line)) + 1
		f.number++
		text = rest
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		id, err := idOf(line)
		if err != nil {
			return fmt.Errorf("%w: %s: line %d is %s: %w", ErrGarbage, f.path, f.number, quoted(string(line)), err)
		}
		if err := tell.Happened(everybody, id); err != nil {
			return err
		}
	}
}

// more reads what was appended.
func (f *File) more() ([]byte, error) {
	file, err := os.Open(f.path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() < f.at {
		return nil, fmt.Errorf("%s became shorter", f.path)
	}
	if _, err := file.Seek(f.at, io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(file)
}

// Close implements Source.
func (f *File) Close() error { return nil }

// Stdout is a Source that reads the JSON lines among what the workers write to their
// standard output. Lines that begin with no brace are the program's own.
type Stdout struct {
	mu     sync.Mutex // guards what follows
	failed error
}

// Look implements Source.
func (s *Stdout) Look(context.Context, Tell) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

// Close implements Source.
func (s *Stdout) Close() error { return nil }

// lines makes a reader of the output of one life of a worker.
func (s *Stdout) lines(worker int, tell Tell) io.Writer {
	return &lineWriter{whole: func(line []byte) { s.line(worker, tell, line) }}
}

func (s *Stdout) line(worker int, tell Tell, line []byte) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '{' {
		return
	}
	id, err := idOf(line)
	if err != nil {
		err = fmt.Errorf("%w: %s wrote %s: %w", ErrGarbage, WorkerName(worker), quoted(string(line)), err)
	} else {
		err = tell.Happened(worker, id)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed == nil {
		s.failed = err
	}
}

// lineWriter cuts what is written into lines. What has no end when the program dies is none.
type lineWriter struct {
	part  []byte
	whole func(line []byte)
}

func (w *lineWriter) Write(b []byte) (int, error) {
	n := len(b)
	for {
		line, rest, found := bytes.Cut(b, []byte("\n"))
		if room := longestLine - len(w.part); room > 0 {
			w.part = append(w.part, line[:min(len(line), room)]...)
		}
		if !found {
			return n, nil
		}
		w.whole(w.part)
		w.part, b = w.part[:0], rest
	}
}
