// SPDX-License-Identifier: Apache-2.0

// Package watchdog cleans up after a harness that could not do it itself, because it was
// killed.
//
// What has to be undone is written to a journal before it is done: a process that must
// not outlive the harness, words that say what to repair. The watchdog is a small
// process in a session of its own that waits on a pipe from the harness. When the pipe
// closes it undoes what the journal still holds and removes it; a harness that ends by
// itself has removed it before.
//
//	keeper := &watchdog.Keeper{Dir: dir, Command: []string{self, "watchdog"}}
//	release, err := keeper.Guard(pid) // the process group of pid dies with the harness
//	...
//	err = keeper.Close()
//
// Should the watchdog be killed too, the journal remains, and the next harness that
// starts undoes it: Sweep. What cannot be undone stays owed for a day. Processes are named
// with their start time, so that a later one of the same number is left alone. Parent-death
// signals are not used: they follow the thread that forked, exist on Linux only, and say
// nothing to a process that is stopped.
//
// Linux and macOS; elsewhere nothing can be guarded.
package watchdog
