// SPDX-License-Identifier: Apache-2.0

// Package spawn runs programs in process groups of their own and follows them: running,
// stopped, ended.
//
//	process, err := spawn.Program{Args: []string{"consumer", "--queue", "orders"}}.Start()
//
// The harness is the parent of each, so the kernel itself tells when one stops, goes on and
// ends; a signal counts as delivered only when its effect has been seen. A signal reaches
// the whole group, a launcher and what it launched. Signals of the harness's terminal reach
// none of them.
//
// What a program writes is read until its end, and the last of it is kept for errors.
//
// Linux and macOS; elsewhere Supported is false and nothing starts. Time here is the
// system's: callers on a clock call what waits through clock.Clock.Foreign.
//
// Read next: program.go, then process.go.
package spawn
