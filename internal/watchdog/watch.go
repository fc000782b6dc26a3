// SPDX-License-Identifier: Apache-2.0

package watchdog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const journalEnding = ".journal"

// repairPatience bounds one repair.
const repairPatience = 2 * time.Minute

// Repair does what a journal's words say. It may be called when there is nothing to repair.
type Repair func(ctx context.Context, words []string) error

// Watch is the watchdog: it waits until the pipe from the harness closes, then undoes
// what the journal still holds.
func Watch(pipe io.Reader, journal string, repair Repair) error {
	if _, err := io.Copy(io.Discard, pipe); err != nil {
		return fmt.Errorf("watchdog: %w", err)
	}
	d, err := readJournal(journal)
	if err != nil {
		return err
	}
	return d.settle(journal, repair)
}

// Sweep undoes what harnesses left behind that were killed together with their watchdogs.
// It returns how many processes and repairs there were.
func Sweep(dir string, repair Repair) (int, error) {
	if dir == "" {
		return 0, nil
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*"+journalEnding))
	if err != nil {
		return 0, fmt.Errorf("watchdog: %w", err)
	}
	undone := 0
	var failed error
	for _, path := range paths {
		d, err := readJournal(path)
		if err == nil && !d.owner.Alive() {
			undone += len(d.guarded) + len(d.repairs)
			err = giveUp(path, d.settle(path, repair))
		}
		failed = errors.Join(failed, err)
	}
	return undone, failed
}

// owedFor is how long it is tried again to undo something, at every start.
const owedFor = 24 * time.Hour

// giveUp ends a journal that could not be settled for long: its broker may never be back.
// What it names is told one last time.
func giveUp(path string, failed error) error {
	if failed == nil {
		return nil
	}
	at, err := os.Stat(path)
	if err != nil || time.Since(at.ModTime()) < owedFor {
		return failed
	}
	return errors.Join(fmt.Errorf("%w; not tried again after %s", failed, owedFor), os.Remove(path))
}

// settle undoes everything and removes the journal; it may be done twice at once. What
// could not be undone stays in it for the next sweep.
func (d *debt) settle(path string, repair Repair) error {
	failed := d.kill()
	for _, words := range d.repairs {
		failed = errors.Join(failed, bounded(repair, words))
	}
	if failed != nil {
		return failed
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("watchdog: %w", err)
	}
	return nil
}

// gonePatience bounds how long what was killed may take to end.
const gonePatience = 10 * time.Second

// kill ends every process and waits until they are gone.
func (d *debt) kill() error {
	for m := range d.guarded {
		m.Kill()
	}
	limit := time.Now().Add(gonePatience)
	for m := range d.guarded {
		for m.Alive() {
			if time.Now().After(limit) {
				return fmt.Errorf("watchdog: process %d does not end: kill it by hand", m.PID)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	return nil
}

func bounded(repair Repair, words []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), repairPatience)
	defer cancel()
	if err := repair(ctx, words); err != nil {
		return fmt.Errorf("watchdog: repair by hand: %s: %w", strings.Join(words, " "), err)
	}
	return nil
}
