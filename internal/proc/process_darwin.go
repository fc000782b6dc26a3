// SPDX-License-Identifier: Apache-2.0

package proc

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Process states of sys/proc.h.
const (
	statStopped = 4
	statZombie  = 5
)

func startOf(pid int) (started string, ok bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(info.Proc.P_pid) != pid || info.Proc.P_stat == statZombie {
		return "", false
	}
	at := info.Proc.P_starttime
	return fmt.Sprintf("%d.%06d", at.Sec, at.Usec), true
}

func stopped(pid int) bool {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	return err == nil && info.Proc.P_stat == statStopped
}
