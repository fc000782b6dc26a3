// SPDX-License-Identifier: Apache-2.0

package proc

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// Positions in /proc/PID/stat after the name, which may hold anything: proc(5).
const (
	statState   = 0
	statThreads = 17
	statStarted = 19
)

// stat is what is known of a process; nil if there is none.
func stat(pid int) []string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) <= statStarted {
		return nil
	}
	return fields
}

func startOf(pid int) (started string, ok bool) {
	fields := stat(pid)
	if fields == nil || ended(fields) {
		return "", false
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", false
	}
	return strings.TrimSpace(string(boot)) + "/" + fields[statStarted], true
}

// ended tells whether a process is a zombie or dead. While other threads than the first are
// still ending, the process is a zombie already but its ports are not closed.
func ended(fields []string) bool {
	threads := fields[statThreads]
	return fields[statState] == "X" || (fields[statState] == "Z" && (threads == "0" || threads == "1"))
}

func stopped(pid int) bool {
	fields := stat(pid)
	return fields != nil && fields[statState] == "T"
}
