// SPDX-License-Identifier: Apache-2.0

package native

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-720a3c77/harness/provision/local"
)

// killPatience bounds the wait for killed processes to be gone.
const killPatience = 10 * time.Second

// corner is one engine's part of the cache folder.
type corner struct {
	root, engine string
}

func (c corner) runDir() string     { return filepath.Join(c.root, "run", c.engine) }
func (c corner) installDir() string { return filepath.Join(c.root, "install", c.engine) }

// lock makes the caller the only one, in all processes, that changes this engine's broker.
func (c corner) lock(ctx context.Context) (unlock func(), err error) {
	unlock, err = local.Lock(ctx, filepath.Join(c.root, "state", c.engine+".lock"))
	if _, unwritable := errors.AsType[*fs.PathError](err); unwritable {
		return nil, unavailable(c.engine, "the cache folder is not writable", "set HARNESS_CACHE to another folder", err)
	}
	if err != nil {
		return nil, fmt.Errorf("native %s: %w", c.engine, err)
	}
	return unlock, nil
}

// sweep ends whatever is left of the broker and removes its data and state.
func (c corner) sweep(ctx context.Context) error {
	s, err := c.load()
	if err != nil {
		s = state{} // unreadable or absent: the mark still finds its processes
	}
	if err := c.killAll(ctx, s); err != nil {
		return err
	}
	if err := os.RemoveAll(c.runDir()); err != nil {
		return fmt.Errorf("native %s: remove data: %w", c.engine, err)
	}
	return nil
}

// killAll kills the processes of s and every process with the corner's mark, waits until
// they are gone, and forgets the state.
func (c corner) killAll(ctx context.Context, s state) error {
	if err := endMarked(ctx, c.runDir(), s.Processes); err != nil {
		return fmt.Errorf("native %s: %w", c.engine, err)
	}
	if err := os.Remove(c.statePath()); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// endMarked kills the processes that are given and those with the mark of dir, until none is
// left.
func endMarked(ctx context.Context, dir string, given []process) error {
	ctx, cancel := context.WithTimeout(ctx, killPatience)
	defer cancel()
	for left := append(marked(dir), given...); len(left) > 0; left = marked(dir) {
		for _, p := range left {
			if err := p.kill(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}
