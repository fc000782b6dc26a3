// SPDX-License-Identifier: Apache-2.0

package watchdog

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// Positions in /proc/PID/stat after the name, which may hold anything: proc(5).
const (
	statState   = 0
	statStarted = 19
)

func startOf(pid int) (started string, ok bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", false
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) <= statStarted || fields[statState] == "Z" || fields[statState] == "X" {
		return "", false
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", false
	}
	return strings.TrimSpace(string(boot)) + "/" + fields[statStarted], true
}
