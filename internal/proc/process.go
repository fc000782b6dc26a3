// SPDX-License-Identifier: Apache-2.0

// Package proc names processes of the system for good: numbers are used again, start times
// are not. What brings brokers up and what cleans up after a killed harness keep such names
// in files, and must not end a process that only has the number of theirs.
//
// Linux and macOS; elsewhere no process is found.
package proc

// Process is one process. The zero value is none.
type Process struct {
	PID int `json:"pid"`
	// Started is the boot and the instant of the start, in the system's own words.
	Started string `json:"started"`
}

// Of names the process that has a number now; not ok if it has ended.
func Of(number int) (p Process, ok bool) {
	started, ok := startOf(number)
	return Process{number, started}, ok
}

// Alive tells whether this very process runs, stopped or not. A zombie does not, unless
// threads of it are still ending, which keep its ports.
func (p Process) Alive() bool {
	started, ok := startOf(p.PID)
	return ok && started == p.Started
}

// Stopped tells whether it is held by a signal.
func (p Process) Stopped() bool { return p.Alive() && stopped(p.PID) }
