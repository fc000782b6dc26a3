// SPDX-License-Identifier: Apache-2.0

package spawn

import (
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// listen reads the outputs to their end; the first is the one that lines gets.
func (p *Process) listen(outputs []*os.File, lines io.Writer) {
	defer close(p.silent)
	var all sync.WaitGroup
	defer all.Wait()
	for i, from := range outputs {
		var to io.Writer = &p.output
		if i == 0 && lines != nil {
			to = io.MultiWriter(&p.output, lines)
		}
		all.Go(func() {
			defer from.Close()
			_, _ = io.Copy(to, from)
		})
	}
}

// quietPatience bounds the wait for the rest of an output that somebody else may hold.
const quietPatience = time.Second

// Quiet waits for the end of what it writes; not for long, since others may have inherited
// its outputs.
func (p *Process) Quiet() {
	select {
	case <-p.silent:
	case <-time.After(quietPatience):
	}
}

// Said is the end of what it wrote, of at most n bytes and what was kept, behind "..." if
// there was more; "" for nothing.
func (p *Process) Said(n int) string { return p.output.last(n) }

// tailSize is how much of a process's output is kept.
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
	if more := len(t.kept) - tailSize; more > 0 || len(b) > tailSize {
		t.kept, t.cut = append(t.kept[:0], t.kept[max(more, 0):]...), true
	}
	return len(b), nil
}

func (t *tail) last(n int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(strings.ToValidUTF8(string(t.kept[max(len(t.kept)-n, 0):]), "?"))
	if text != "" && (t.cut || len(t.kept) > n) {
		return "..." + text
	}
	return text
}
