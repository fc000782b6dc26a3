// SPDX-License-Identifier: Apache-2.0

package history

import (
	"encoding/gob"
	"fmt"
	"os"
	"path/filepath"
)

type namesFile struct {
	*os.File
	encoder *gob.Encoder
}

type nameRecord struct {
	Table Table
	Ref   uint32
	Text  string
}

type segmentRecord struct {
	Task   string
	Events []Event
}

func createNames(dir, process string) (*namesFile, error) {
	f, err := os.OpenFile(filepath.Join(dir, "names"+process+".seg"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	return &namesFile{f, gob.NewEncoder(f)}, nil
}

func (f *namesFile) write(table Table, ref uint32, text string) error {
	return f.encoder.Encode(nameRecord{table, ref, text})
}

func (f *namesFile) close() error { return f.File.Close() }

func (s *Segment) close() {
	r := s.recording
	if r.dir == "" {
		return
	}
	f, err := os.Create(filepath.Join(r.dir, fmt.Sprintf("%03d.seg", s.number)))
	if err != nil {
		r.fail(err)
		return
	}
	defer f.Close()
	if err := gob.NewEncoder(f).Encode(segmentRecord{s.task, s.events}); err != nil {
		r.fail(err)
	}
}

// Open reads the run in a directory.
func Open(dir string) (*Run, error) {
	h, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	run := &Run{Header: h}
	if err := run.readNames(dir); err != nil {
		return nil, err
	}
	for i := 0; ; i++ {
		f, err := os.Open(filepath.Join(dir, fmt.Sprintf("%03d.seg", i)))
		if os.IsNotExist(err) {
			return run, nil
		}
		if err != nil {
			return nil, err
		}
		defer f.Close()
		var s segmentRecord
		if err := gob.NewDecoder(f).Decode(&s); err != nil {
			return nil, err
		}
		run.tasks, run.parts = append(run.tasks, s.Task), append(run.parts, s.Events)
		run.Integrity.Events += int64(len(s.Events))
	}
}

func (r *Run) readNames(dir string) error {
	for t := range r.names {
		r.names[t] = []string{""}
	}
	f, err := os.Open(filepath.Join(dir, "names.seg"))
	if err != nil {
		return err
	}
	defer f.Close()
	decoder := gob.NewDecoder(f)
	for {
		var n nameRecord
		if err := decoder.Decode(&n); err != nil {
			return nil
		}
		r.names[n.Table] = append(r.names[n.Table], n.Text)
	}
}
