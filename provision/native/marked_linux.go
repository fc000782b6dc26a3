// SPDX-License-Identifier: Apache-2.0

package native

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"

	"github.com/seed-720a3c77/harness/internal/proc"
)

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
		if p, ok := proc.Of(pid); ok && pid != os.Getpid() {
			found = append(found, process{"marked", p})
		}
	}
	return found
}
