// SPDX-License-Identifier: Apache-2.0

package spawn

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// EndEscaped kills the processes that have a variable in their environment, NAME=value, and
// says how many there were: a program may begin a session of its own, where no signal to its
// group reaches it. One that has cleared its environment is not found.
func EndEscaped(variable string) int {
	paths, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return 0
	}
	ended, mark := 0, []byte("\x00"+variable+"\x00")
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(append([]byte{0}, text...), mark) {
			continue // it has ended, or it is another user's
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err == nil && pid != os.Getpid() && syscall.Kill(pid, syscall.SIGKILL) == nil {
			ended++
		}
	}
	return ended
}
