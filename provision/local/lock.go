// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	lockEvery = 50 * time.Millisecond
	// lockPatience is longer than a first download takes.
	lockPatience = 15 * time.Minute
)

// errHeld means that another process has the lock.
var errHeld = errors.New("held by another process")

// Lock makes the caller the only one, in all processes, that holds the file at path, which
// is made if it is not there. It waits until the holder is done, ctx ends or a quarter of an
// hour is over. The system releases the lock of a process that dies.
func Lock(ctx context.Context, path string) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := await(ctx, f); err != nil {
		holder, _ := os.ReadFile(path)
		f.Close()
		return nil, fmt.Errorf("lock %s, held by process %s: %w", path, strings.TrimSpace(string(holder)), err)
	}
	if err := name(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() { f.Close() }, nil
}

// name writes down who holds the lock, for the message of those who do not get it.
func name(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := fmt.Fprintf(f, "%d\n", os.Getpid())
	return err
}

// await tries until it has the lock of f.
func await(ctx context.Context, f *os.File) error {
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	ticker := time.NewTicker(lockEvery)
	defer ticker.Stop()
	for {
		if err := try(f); !errors.Is(err, errHeld) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
	}
}
