// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package native

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	lockEvery = 50 * time.Millisecond
	// lockPatience is longer than a first download takes.
	lockPatience = 15 * time.Minute
)

// lock makes the caller the only one, in all processes, that changes this engine's broker.
// It waits until the holder is done, ctx ends or its patience is over. The system releases
// the lock of a process that dies.
func (c corner) lock(ctx context.Context) (unlock func(), err error) {
	path := filepath.Join(c.root, "state", c.engine+".lock")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, unavailable(c.engine, "the cache folder is not writable", "set HARNESS_CACHE to another folder", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, unavailable(c.engine, "the cache folder is not writable", "set HARNESS_CACHE to another folder", err)
	}
	if err := acquire(ctx, f); err != nil {
		holder, _ := os.ReadFile(path)
		f.Close()
		return nil, fmt.Errorf("native %s: lock %s is held by process %s: %w", c.engine, path, strings.TrimSpace(string(holder)), err)
	}
	f.Truncate(0)
	fmt.Fprintf(f, "%d\n", os.Getpid())
	return func() { f.Close() }, nil
}

func acquire(ctx context.Context, f *os.File) error {
	ctx, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	ticker := time.NewTicker(lockEvery)
	defer ticker.Stop()
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil || !errors.Is(err, unix.EWOULDBLOCK) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
	}
}
