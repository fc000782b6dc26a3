// SPDX-License-Identifier: Apache-2.0

package watchdog

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/seed-720a3c77/harness/internal/proc"
)

// entry is a line of a journal. One of its fields is set.
type entry struct {
	// Owner is the harness, and the first line.
	Owner *proc.Process `json:"owner,omitempty"`
	// Guard and Release begin and end the care for a process.
	Guard   *proc.Process `json:"guard,omitempty"`
	Release *proc.Process `json:"release,omitempty"`
	// Repair is to be done, unless it is Repaired.
	Repair   *repair `json:"repair,omitempty"`
	Repaired int     `json:"repaired,omitempty"`
}

// repair is something to undo, in words that whoever repairs understands.
type repair struct {
	Number int      `json:"number"`
	Words  []string `json:"words"`
}

// journal is what has to be undone, in a file. Each entry is one write, which survives the
// death of the process that made it.
type journal struct {
	path string

	mu   sync.Mutex // guards writes
	file *os.File
}

// createJournal makes a journal that has its owner from the first moment on: one without
// would be swept.
func createJournal(path string, owner proc.Process) (*journal, error) {
	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("watchdog: %w", err)
	}
	j := &journal{path: path, file: f}
	if err := j.write(entry{Owner: &owner}); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(path+".new"))
	}
	if err := os.Rename(path+".new", path); err != nil {
		return nil, errors.Join(fmt.Errorf("watchdog: %w", err), f.Close())
	}
	return j, nil
}

func (j *journal) write(e entry) error {
	text, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("watchdog: %w", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := j.file.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("watchdog: %w", err)
	}
	return nil
}

// remove ends the journal: nothing is left to undo.
func (j *journal) remove() error {
	return errors.Join(os.Remove(j.path), j.file.Close())
}

// debt is what a journal still holds.
type debt struct {
	owner   proc.Process
	guarded map[proc.Process]bool
	repairs map[int][]string
}

// readJournal sums a journal up. A line that is cut short was never acted upon.
func readJournal(path string) (debt, error) {
	d := debt{guarded: map[proc.Process]bool{}, repairs: map[int][]string{}}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	if err != nil {
		return d, fmt.Errorf("watchdog: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var e entry
		if json.Unmarshal(lines.Bytes(), &e) == nil {
			d.take(e)
		}
	}
	return d, lines.Err()
}

func (d *debt) take(e entry) {
	switch {
	case e.Owner != nil:
		d.owner = *e.Owner
	case e.Guard != nil:
		d.guarded[*e.Guard] = true
	case e.Release != nil:
		delete(d.guarded, *e.Release)
	case e.Repair != nil:
		d.repairs[e.Repair.Number] = e.Repair.Words
	default:
		delete(d.repairs, e.Repaired)
	}
}
