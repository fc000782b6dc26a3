// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed-720a3c77/harness/internal/watchdog"
)

// watchdogVerb is the process that cleans up after a harness that was killed.
func watchdogVerb() *cobra.Command {
	return &cobra.Command{
		Use: "watchdog JOURNAL", Hidden: true, Args: exactly(1, "a journal: a run starts its watchdog itself"),
		RunE: func(_ *cobra.Command, args []string) error { return watchdog.Watch(os.Stdin, args[0], repair) },
	}
}

// repair runs the words as a command line of this program, in this process: its file may
// be gone.
func repair(ctx context.Context, words []string) error {
	cmd := root()
	cmd.SetArgs(words)
	cmd.SetOut(io.Discard)
	cmd.SetErr(io.Discard)
	return cmd.ExecuteContext(ctx)
}

// keeping is the care for what must not outlive this process.
type keeping struct {
	watchdog.Keeper
	self string
}

// keep undoes what earlier harnesses left behind and makes ready to guard.
func keep(say func(string)) (*keeping, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("where this program is: %w", err)
	}
	dir := journals()
	undone, err := watchdog.Sweep(dir, repair)
	if undone > 0 {
		say(fmt.Sprintf("undid %d left-overs of a killed run", undone))
	}
	if err != nil {
		say("left-overs of a killed run: " + oneLine(err))
	}
	return &keeping{watchdog.Keeper{Dir: dir, Command: []string{self, "watchdog"}}, self}, nil
}

// journals is the folder for what has to be undone; "" where there is none, and then
// nothing can be guarded.
func journals() string {
	if cache := os.Getenv("HARNESS_CACHE"); cache != "" {
		return filepath.Join(cache, "watchdog")
	}
	user, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(user, "harness", "watchdog")
}

// worker is this program as a worker.
func (k *keeping) worker() []string { return []string{k.self, "worker"} }

// broker sees to it that a broker is stopped if this process cannot do it.
func (k *keeping) broker(engine string) (func(), error) {
	done, err := k.Repair("down", engine)
	if errors.Is(err, watchdog.ErrUnsupported) {
		return func() {}, nil
	}
	return done, err
}
