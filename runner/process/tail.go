// SPDX-License-Identifier: Apache-2.0

package process

import (
	"strings"
	"sync"
)

// tailSize is how much of a process's output is kept.
const tailSize = 2048

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
	if more := len(t.kept) - tailSize; more > 0 || len(b) > tailSize {
		t.kept, t.cut = append(t.kept[:0], t.kept[max(more, 0):]...), true
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(strings.ToValidUTF8(string(t.kept), "?"))
	if t.cut {
		return "..." + text
	}
	return text
}
