// SPDX-License-Identifier: Apache-2.0

package history

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
)

// Recording writes the history of one run: to a directory (Create, Attach) or to memory
// (NewMemory). Its methods may be called concurrently.
//
// A write that fails does not stop the caller: the event is lost, Err tells why from then
// on, Close returns it, and a reader finds the segment not closed. Check Err when the run
// ends; a run with an error is inconclusive at best.
type Recording struct {
	dir     string // empty in memory
	process string // empty in the process that created the run
	names   *interner
	failed  atomic.Pointer[failure]
	// encoders are large and busy only while a block is sealed.
	encoders *sync.Pool
	memory   *Memory // nil for a single run

	mu       sync.Mutex // guards what follows
	header   Header
	segments []*Segment
	files    []sealedFile // as they were at the end
	closed   bool
}

type failure struct{ err error }

// Create begins a run in a new directory, making its parents as needed. A directory that
// exists already is refused, and one that cannot be written to is found out now.
func Create(dir string, h Header) (*Recording, error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	err := os.Mkdir(dir, 0o755)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("history: %s exists already, and a run is never written over: %w", dir, fs.ErrExist)
	}
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	h.Format = FormatVersion
	h.Unfinished = true
	if err := writeManifest(dir, &h, nil); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	r, err := record(dir, "", h)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return r, nil
}

// Attach adds segments of another process to the run in dir. The process name is unique
// in the run: a process that is started again has a new one. Names are numbered anew and
// joined by the reader. The manifest is left to the process that created the run.
func Attach(dir, process string) (*Recording, error) {
	if process == "" {
		return nil, errors.New("history: attach: a process needs a name")
	}
	m, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	return record(dir, readable(process), m.Header)
}

// NewMemory begins a run that is kept in memory until Close and read by Run.
func NewMemory(h Header) *Recording {
	h.Format = FormatVersion
	return newRecording("", "", h, nil)
}

func record(dir, process string, h Header) (*Recording, error) {
	names, err := createNames(dir, process)
	if err != nil {
		return nil, err
	}
	return newRecording(dir, process, h, names), nil
}

func newRecording(dir, process string, h Header, names *namesFile) *Recording {
	return &Recording{
		dir: dir, process: process, header: h, names: newInterner(names),
		encoders: &sync.Pool{New: func() any { return new(encoder) }},
	}
}

// Dir is where the run is written; it is empty for one in memory.
func (r *Recording) Dir() string { return r.dir }

// Header is the manifest as it stands.
func (r *Recording) Header() Header {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.header
}

// Amend changes the manifest, which is rewritten atomically: versions and settings are
// known only once a broker answers. It is refused in an attached process.
func (r *Recording) Amend(change func(*Header)) error {
	if r.process != "" {
		return fmt.Errorf("history: process %s may not change the manifest", r.process)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.header)
	r.header.Format = FormatVersion
	if r.dir == "" {
		return nil
	}
	if err := writeManifest(r.dir, &r.header, r.files); err != nil {
		r.fail(err)
		return err
	}
	return nil
}

// Intern returns the number of a text in a table, the same for the same text. In a file
// the text is written before Intern returns, so that no event refers to a name that a
// crash lost.
func (r *Recording) Intern(table Table, text string) uint32 {
	ref, err := r.names.intern(table, text)
	if err != nil {
		r.fail(err)
	}
	return ref
}

// Err is the first error of writing, nil while there is none.
func (r *Recording) Err() error {
	if f := r.failed.Load(); f != nil {
		return f.err
	}
	return nil
}

func (r *Recording) fail(err error) { r.failed.CompareAndSwap(nil, &failure{err}) }

// Close ends every segment with a footer and returns Err. No event may be appended any
// more. A second Close does nothing.
func (r *Recording) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return r.Err()
	}
	r.closed = true
	for _, s := range r.segments {
		s.Close()
	}
	if err := r.names.close(); err != nil {
		r.fail(err)
	}
	r.finish()
	return r.Err()
}

// finish tells in the manifest that all was written, and where. A record that was cut short, by a
// crash or by a full disk, never gets there.
func (r *Recording) finish() {
	if r.dir == "" || r.process != "" || r.Err() != nil {
		return
	}
	var err error
	if r.files, err = sealFiles(r.dir); err != nil {
		r.fail(err)
		return
	}
	r.header.Unfinished = false
	if err := writeManifest(r.dir, &r.header, r.files); err != nil {
		r.fail(err)
	}
}
