// SPDX-License-Identifier: Apache-2.0

package history

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
)

// Open reads the run in a directory: its manifest and names, and where its blocks are.
// Every checksum is verified now. Damage is no error but a Finding; an error is a
// directory that holds no run, or one that cannot be read.
func Open(dir string) (*Run, error) {
	m, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	names, err := segmentFiles(dir)
	if err != nil {
		return nil, err
	}
	o := opening{dir: dir, run: &Run{Header: m.Header}, listed: map[string]*sealedFile{}}
	for i := range m.Files {
		o.listed[m.Files[i].Name] = &m.Files[i]
	}
	for _, name := range names {
		if err := o.read(name); err != nil {
			return nil, fmt.Errorf("history: %s: %w", filepath.Join(dir, name), err)
		}
		delete(o.listed, name)
	}
	for _, name := range slices.Sorted(maps.Keys(o.listed)) {
		o.run.Integrity.note(o.listed[name].gone())
	}
	return o.join()
}

// opening gathers the files of a run.
type opening struct {
	dir    string
	run    *Run
	listed map[string]*sealedFile // in the manifest, and not read yet
	names  []processNames
	parts  []part
}

func (o *opening) read(name string) error {
	path := filepath.Join(o.dir, name)
	scan, f, err := openFrames(path)
	if err != nil {
		return err
	}
	defer f.Close()
	h, found, err := readHead(scan)
	if err != nil {
		return err
	}
	finding := Finding{File: name, Task: h.task}
	switch {
	case !found:
		readHeadless(scan, &finding)
	case h.names:
		names := processNames{process: h.process}
		names.read(scan, &finding)
		names.closed = !finding.NotClosed
		o.names = append(o.names, names)
	default:
		p := part{head: h, path: path}
		s := segmentReader{scan: scan, finding: &finding, part: &p}
		s.read()
		s.recover(openPath(path))
		p.closed = !finding.NotClosed
		o.parts = append(o.parts, p)
	}
	if sealed := o.listed[name]; sealed != nil && scan.err == nil {
		sealed.compare(path, scan, &finding)
	}
	o.run.Integrity.note(finding)
	return scan.err
}

// readHead reads the first frame; found is false if there is none or it is damaged.
func readHead(scan *frameScanner) (h head, found bool, err error) {
	if !scan.read(0) {
		return h, false, scan.err
	}
	f := fields{rest: scan.payload}
	if !f.next() || f.field != frameHead {
		return h, false, nil
	}
	scan.step()
	h, err = parseHead(f.data)
	return h, err == nil, err
}

// readHeadless counts what is in a file whose head is gone: nobody knows whose events
// they are. One that ends there was being created when its process died.
func readHeadless(scan *frameScanner, finding *Finding) {
	s := segmentReader{scan: scan, finding: finding}
	s.read()
	finding.Missing += s.rows
	if finding.NotClosed && finding.Damaged > 0 {
		finding.Missing += maxRows
	}
}

// join numbers the tasks: those of the process that created the run as it did, then
// those of the others by name.
func (o *opening) join() (*Run, error) {
	slices.SortFunc(o.names, func(a, b processNames) int { return cmp.Compare(a.process, b.process) })
	slices.SortStableFunc(o.parts, func(a, b part) int {
		return cmp.Or(cmp.Compare(a.head.process, b.head.process), cmp.Compare(a.head.number, b.head.number))
	})
	if len(o.parts) > math.MaxUint16 {
		return nil, fmt.Errorf("history: %s holds %d tasks, more than %d", o.dir, len(o.parts), math.MaxUint16)
	}
	o.noteNameless()
	refs := joinNames(&o.run.names, o.names)
	for _, p := range o.parts {
		p.refs = refs[p.head.process]
		o.run.add(p)
		adopt(&o.run.parts[len(o.run.parts)-1])
	}
	return o.run, nil
}

// noteNameless finds processes that closed all their segments and yet have no names that
// were closed: the end of the names is gone, and nobody knows how many they were. One that
// was killed closed neither, and wrote every name before the event that uses it.
func (o *opening) noteNameless() {
	named, ended := map[string]bool{}, map[string]bool{}
	for i := range o.names {
		named[o.names[i].process] = o.names[i].closed
	}
	for i := range o.parts {
		p := &o.parts[i]
		before, seen := ended[p.head.process]
		ended[p.head.process] = p.closed && (before || !seen)
	}
	for _, process := range slices.Sorted(maps.Keys(ended)) {
		if ended[process] && !named[process] {
			o.run.Integrity.note(Finding{File: namesFileName(process), Unnamed: 1})
		}
	}
}

// adopt gives recovered events the numbers that the run has for their task and names.
func adopt(p *part) {
	for i := range p.tail {
		p.tail[i].Task = p.task
	}
	p.refs.rename(p.tail)
}
