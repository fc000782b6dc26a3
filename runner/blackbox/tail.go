// SPDX-License-Identifier: Apache-2.0

package blackbox

import (
	"strings"
	"sync"
)

// tailSize is how much of a worker's output is kept.
const tailSize = 4096

// tail keeps the last that was written. It is safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	kept []byte
	cut  bool
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b[max(len(b)-tailSize, 0):]...)
	if more := len(t.kept) - tailSize; more > 0 {
		t.kept = append(t.kept[:0], t.kept[more:]...)
		t.cut = true
	}
	t.cut = t.cut || len(b) > tailSize
	return len(b), nil
}

// last is the end of what was kept, of at most n bytes, or a word for nothing.
func (t *tail) last(n int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(strings.ToValidUTF8(string(t.kept[max(len(t.kept)-n, 0):]), "?"))
	switch {
	case text == "":
		return "it said nothing"
	case t.cut || len(t.kept) > n:
		return "it said last: ..." + text
	}
	return "it said: " + text
}
