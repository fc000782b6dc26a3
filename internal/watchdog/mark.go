// SPDX-License-Identifier: Apache-2.0

package watchdog

// Mark names one process for good: numbers are used again, start times are not.
type Mark struct {
	PID int `json:"pid"`
	// Started is the boot and the instant of the start, in the system's own words.
	Started string `json:"started"`
}

// Of marks a process; not ok for one that has ended.
func Of(pid int) (m Mark, ok bool) {
	started, ok := startOf(pid)
	return Mark{pid, started}, ok
}

// Alive tells whether this very process runs, stopped or not; a zombie does not.
func (m Mark) Alive() bool {
	now, ok := Of(m.PID)
	return ok && now == m
}
