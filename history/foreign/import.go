// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/internal/regular"
	"github.com/seed-720a3c77/harness/internal/suggest"
)

// Format is a form of file that can be imported.
type Format struct {
	Name, About string
	// read tells the run; inputs are read as often as needed.
	read func(r *run, inputs []Input) error
}

// Input is one file: a producer's log, a consumer's log, the file of one node.
type Input struct {
	Name string
	io.ReadSeeker
}

// Formats lists all that can be imported.
func Formats() []Format {
	return []Format{
		{"jsonl", "JSON Lines of this project (history export)", nil},
		{"kafka-verifiable", "Kafka's VerifiableProducer and VerifiableConsumer, JSON lines", readVerifiable},
		{"redpanda-chaos", "workload.log of redpanda's chaos tests, one file a node", readRedpanda},
		{"openmessaging", "a history file of openmessaging-chaos", readOpenMessaging},
		{"jepsen", "history.edn of Jepsen's kafka and queue workloads", readJepsen},
	}
}

// Named finds a format; the error tells the nearest right name.
func Named(name string) (Format, error) {
	var names []string
	for _, f := range Formats() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return Format{}, errors.New(suggest.Unknown("format", name, names))
}

// Import makes the run in dir, which must not exist, from files. After an error dir is
// gone again.
func (f Format) Import(files []string, dir string) error {
	var inputs []Input
	for _, name := range files {
		file, err := f.open(name)
		if err != nil {
			return fmt.Errorf("import: %w", err)
		}
		defer file.Close()
		inputs = append(inputs, Input{filepath.Base(name), file})
	}
	return f.Read(inputs, dir)
}

// open opens a plain file. A form that is read once may come from a pipe.
func (f Format) open(name string) (*os.File, error) {
	if f.read == nil {
		return os.Open(name)
	}
	return regular.Open(name)
}

// Read is Import of what is open already.
func (f Format) Read(inputs []Input, dir string) error {
	if len(inputs) == 0 {
		return errors.New("import: no file")
	}
	if f.read == nil {
		if len(inputs) != 1 {
			return fmt.Errorf("import: %s wants one file", f.Name)
		}
		return importOwn(inputs[0], dir)
	}
	recording, err := history.Create(dir, history.Header{Run: filepath.Base(dir)})
	if err != nil {
		return err
	}
	if err := f.into(recording, inputs); err != nil {
		os.RemoveAll(dir)
		return err
	}
	return nil
}

// into tells the run to a recording, and ends it.
func (f Format) into(recording *history.Recording, inputs []Input) error {
	r := newRun(recording, f.Name)
	err := f.read(r, inputs)
	if err == nil {
		err = recording.Amend(func(h *history.Header) { *h = r.header })
	}
	return errors.Join(err, recording.Close())
}
