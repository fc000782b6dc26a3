// SPDX-License-Identifier: Apache-2.0

package watchdog

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/seed-720a3c77/harness/internal/proc"
)

// ErrUnsupported: this system cannot tell one process from a later one.
var ErrUnsupported = errors.New("watchdog: processes cannot be guarded on this system")

// ErrNoFolder: there is no place for journals.
var ErrNoFolder = errors.New("watchdog: no folder for what would have to be undone: set HARNESS_CACHE")

// Keeper is the harness's side. The watchdog is started when there is something to guard.
// Its methods may be called concurrently.
type Keeper struct {
	// Dir is where journals are kept.
	Dir string
	// Command becomes the watchdog; the path of the journal is added to it.
	Command []string

	mu      sync.Mutex // guards what follows
	journal *journal
	dog     *exec.Cmd
	pipe    *os.File
	repairs int
}

// Guard kills the group of a process when the harness dies. release is called when the
// process has ended by itself.
func (k *Keeper) Guard(pid int) (release func(), err error) {
	mark, ok := proc.Of(pid)
	if !ok {
		return nil, fmt.Errorf("watchdog: process %d has ended", pid)
	}
	j, err := k.open()
	if err != nil {
		return nil, err
	}
	if err := j.write(entry{Guard: &mark}); err != nil {
		return nil, err
	}
	return func() { _ = j.write(entry{Release: &mark}) }, nil
}

// Repair has the watchdog repair something when the harness dies, which the words tell
// it. They are kept in a file: no secret is among them. done is called when there is
// nothing to repair any more.
func (k *Keeper) Repair(words ...string) (done func(), err error) {
	j, err := k.open()
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	k.repairs++
	number := k.repairs
	k.mu.Unlock()
	if err := j.write(entry{Repair: &repair{number, words}}); err != nil {
		return nil, err
	}
	return func() { _ = j.write(entry{Repaired: number}) }, nil
}

// open begins the journal and starts the watchdog, once.
func (k *Keeper) open() (*journal, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.journal != nil {
		return k.journal, nil
	}
	if k.Dir == "" {
		return nil, ErrNoFolder
	}
	owner, ok := proc.Of(os.Getpid())
	if !ok {
		return nil, ErrUnsupported
	}
	if err := os.MkdirAll(k.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("watchdog: %w", err)
	}
	path := filepath.Join(k.Dir, strconv.Itoa(owner.PID)+"-"+strconv.FormatInt(time.Now().UnixNano(), 36)+journalEnding)
	j, err := createJournal(path, owner)
	if err != nil {
		return nil, err
	}
	if err := k.start(path); err != nil {
		return nil, errors.Join(err, j.remove())
	}
	k.journal = j
	return j, nil
}

// start starts the watchdog on a pipe that closes when this process ends, however it does.
func (k *Keeper) start(path string) error {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("watchdog: %w", err)
	}
	defer theirs.Close()
	cmd := exec.Command(k.Command[0], append(k.Command[1:], path)...)
	cmd.Stdin = theirs
	apart(cmd)
	if err := cmd.Start(); err != nil {
		ours.Close()
		return fmt.Errorf("watchdog: %w", err)
	}
	k.dog, k.pipe = cmd, ours
	return nil
}

// Close tells the watchdog that there is nothing left to undo and waits for its end.
func (k *Keeper) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.journal == nil {
		return nil
	}
	err := errors.Join(k.journal.remove(), k.pipe.Close(), k.dog.Wait())
	k.journal = nil
	if err != nil {
		return fmt.Errorf("watchdog: %w", err)
	}
	return nil
}
