// SPDX-License-Identifier: Apache-2.0

package native

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// stat returns the fields of /proc/PID/stat from the third on (the state), see proc(5).
func stat(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	return strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
}

// startOf returns the boot and the tick in which a process started; not ok for one that has
// ended.
func startOf(pid int) (started string, ok bool) {
	fields := stat(pid)
	if len(fields) < 20 || ended(fields) {
		return "", false
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", false
	}
	return strings.TrimSpace(string(boot)) + "/" + fields[19], true
}

// ended tells whether a process is a zombie or dead. While other threads than the first are
// still ending, the process is a zombie already but its ports are not closed.
func ended(fields []string) bool {
	threads := fields[17]
	return fields[0] == "X" || (fields[0] == "Z" && (threads == "0" || threads == "1"))
}

// stopped tells whether a process is frozen by a signal.
func stopped(pid int) bool {
	fields := stat(pid)
	return len(fields) > 0 && fields[0] == "T"
}

// marked finds the processes whose environment carries the mark of dir.
func marked(dir string) []process {
	mark := []byte("\x00" + markVariable + "=" + dir + "\x00")
	paths, _ := filepath.Glob("/proc/[0-9]*/environ")
	var found []process
	for _, path := range paths {
		env, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(append([]byte{0}, env...), mark) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if started, ok := startOf(pid); ok && pid != os.Getpid() {
			found = append(found, process{Name: "marked", PID: pid, Started: started})
		}
	}
	return found
}
