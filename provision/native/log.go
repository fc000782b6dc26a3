// SPDX-License-Identifier: Apache-2.0

package native

import (
	"io"
	"os"
	"strings"
)

// tailBytes bounds how much of a log is read for its last lines.
const tailBytes = 16 << 10

// tail returns the last lines of a file, or why it cannot.
func tail(path string, lines int) string {
	f, err := os.Open(path)
	if err != nil {
		return "  (" + err.Error() + ")"
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > tailBytes {
		_, _ = f.Seek(-tailBytes, io.SeekEnd)
	}
	text, err := io.ReadAll(io.LimitReader(f, tailBytes))
	if err != nil {
		return "  (" + err.Error() + ")"
	}
	return lastLines(string(text), lines)
}

// lastLines keeps the last n lines of text, indented.
func lastLines(text string, n int) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(all) > n {
		all = all[len(all)-n:]
	}
	return "  " + strings.Join(all, "\n  ")
}
