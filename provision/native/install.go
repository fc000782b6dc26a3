// SPDX-License-Identifier: Apache-2.0

package native

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-720a3c77/harness/provision"
)

const (
	stampFile = "harness-stamp"
	// installPatience bounds one download; a slow line needs minutes.
	installPatience = 15 * time.Minute
)

// home returns the installation to run: the system's, the one in the cache, or a new one.
func (p *Provider) home(ctx context.Context, r recipe, c corner) (string, error) {
	if system := r.system(); system != "" {
		return system, nil
	}
	if c.installed(r) {
		return c.installDir(), nil
	}
	p.say("native: downloading %s (once)", c.engine)
	if err := c.install(ctx, r); err != nil {
		if errors.Is(err, provision.ErrUnavailable) {
			return "", err
		}
		return "", unavailable(c.engine, "the download failed", "check the network, or give an address", err)
	}
	return c.installDir(), nil
}

// installed tells whether the cache has what this recipe would make.
func (c corner) installed(r recipe) bool {
	stamp, err := os.ReadFile(filepath.Join(c.installDir(), stampFile))
	if err != nil || string(stamp) != r.stamp() {
		return false
	}
	_, err = os.Stat(filepath.Join(c.installDir(), r.proof()))
	return err == nil
}

// install fills a folder beside the installation and renames it when it is complete, so
// that one that was interrupted is never taken for whole. Tools that an interrupted one left
// running are ended first: they would go on writing there.
func (c corner) install(ctx context.Context, r recipe) error {
	ctx, cancel := context.WithTimeout(ctx, installPatience)
	defer cancel()
	partial := c.installDir() + ".partial"
	if err := endMarked(ctx, partial, nil); err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(partial), os.MkdirAll(partial, 0o755)); err != nil {
		return err
	}
	defer os.RemoveAll(partial)
	if err := r.install(ctx, partial); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(partial, r.proof())); err != nil {
		return fmt.Errorf("incomplete: %w", err)
	}
	if err := os.WriteFile(filepath.Join(partial, stampFile), []byte(r.stamp()), 0o644); err != nil {
		return err
	}
	if err := os.RemoveAll(c.installDir()); err != nil {
		return err
	}
	return os.Rename(partial, c.installDir())
}

// run runs a tool to its end with the user's own environment and settings, and the mark of
// a folder if there is one. The error has the last lines of what the tool printed.
func run(ctx context.Context, dir, mark, path string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.Env = dir, os.Environ()
	if mark != "" {
		cmd.Env = append(cmd.Env, markVariable+"="+mark)
	}
	endWholeGroup(cmd)
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if err == nil {
		return out.String(), nil
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return "", fmt.Errorf("%s: %w\n%s", strings.Join(append([]string{filepath.Base(path)}, args...), " "), err, lastLines(out.String(), 12))
}
