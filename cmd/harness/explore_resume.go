// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/explore"
	"github.com/seed-720a3c77/harness/workloads"
)

// resumeHead is the first line of a file of trials. What was tried in one space says nothing
// of another.
type resumeHead struct {
	Explores string `json:"explores"`
}

// keep reads the trials of an interrupted exploration and appends the new ones.
func (f *exploreFlags) keep(r *explore.Request) (func() error, error) {
	if f.resume == "" {
		return func() error { return nil }, nil
	}
	file, err := os.OpenFile(f.resume, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("resume: %w", err)
	}
	if err := resumeFrom(file, r); err != nil {
		return nil, errors.Join(fmt.Errorf("resume %s: %w", f.resume, err), file.Close())
	}
	w := json.NewEncoder(file)
	r.Each = func(t explore.Trial) error { return w.Encode(t) }
	return file.Close, nil
}

func resumeFrom(file *os.File, r *explore.Request) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("not a plain file")
	}
	head, err := headOf(&r.Space)
	if err != nil {
		return err
	}
	if info.Size() == 0 {
		return json.NewEncoder(file).Encode(head)
	}
	if r.Done, err = readTrials(file, head); err != nil {
		return err
	}
	return endLine(file, info.Size())
}

// endLine ends a last line that a crash cut off, so that the next trial is not lost with it.
func endLine(file *os.File, size int64) error {
	var last [1]byte
	if _, err := file.ReadAt(last[:], size-1); err != nil || last[0] == '\n' {
		return err
	}
	_, err := file.WriteString("\n")
	return err
}

func headOf(s *explore.Space) (resumeHead, error) {
	spec, err := s.Document.Spec(s.Variant)
	if err != nil {
		return resumeHead{}, err
	}
	text, err := workloads.Encode(spec, "")
	if err != nil {
		return resumeHead{}, err
	}
	name := s.Document.Name
	if s.Variant != "" {
		name += " " + s.Variant
	}
	return resumeHead{fmt.Sprintf("%s (%.4x) on %s, %s", name, sha256.Sum256(text), s.Profile.Name, s.Bounds())}, nil
}

// readTrials reads one trial a line; one that a crash cut off is tried again.
func readTrials(r io.Reader, want resumeHead) (map[uint64]explore.Trial, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	var head resumeHead
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &head) != nil || head.Explores == "" {
		return nil, errors.New("not a file that --resume made")
	}
	if head != want {
		return nil, fmt.Errorf("it keeps trials of %s; this is %s", head.Explores, want.Explores)
	}
	done := map[uint64]explore.Trial{}
	for lines.Scan() {
		var t explore.Trial
		if json.Unmarshal(lines.Bytes(), &t) != nil || t.Verdict == contract.Unjudged {
			continue
		}
		done[t.Seed] = t
	}
	return done, lines.Err()
}
