// SPDX-License-Identifier: Apache-2.0

package native

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Process states of sys/proc.h.
const (
	statStopped = 4
	statZombie  = 5
)

// startOf returns the time at which a process started; not ok for one that has ended, as
// zombies have.
func startOf(pid int) (started string, ok bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(info.Proc.P_pid) != pid || info.Proc.P_stat == statZombie {
		return "", false
	}
	at := info.Proc.P_starttime
	return fmt.Sprintf("%d.%06d", at.Sec, at.Usec), true
}

// stopped tells whether a process is frozen by a signal.
func stopped(pid int) bool {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	return err == nil && info.Proc.P_stat == statStopped
}

// marked finds nothing: other processes' environments are not to be read here, so only
// what the state names is ended.
func marked(string) []process { return nil }
