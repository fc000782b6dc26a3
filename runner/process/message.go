// SPDX-License-Identifier: Apache-2.0

package process

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/effects"
	"github.com/seed-720a3c77/harness/msg"
)

// kind says what a message is and which of its fields mean something.
type kind string

const (
	// From the harness.

	jobIs  kind = "job"    // Job: the first line
	begin  kind = "begin"  // Text is the store's name: the worker may work
	answer kind = "answer" // Call, and what was asked for
	leave  kind = "leave"  // finish and go
	order  kind = "order"  // question: Text is the runner.Order, N the fault

	// From the worker. A question has a Call and is answered.

	ready    kind = "ready"    // it has its job and records
	reach    kind = "reach"    // question: Text is the point, N which, ID
	failures kind = "failures" // question: N more for ID; answered by N
	start    kind = "start"    // question, effects.Store.Begin: Key, Text is the worker; answered by N
	apply    kind = "apply"    // question, effects.Store.Apply: Key, Text is the worker; answered by Result
	count    kind = "count"    // question, effects.Store.Count: Key; answered by N
	holding  kind = "holding"  // On: a batch is held, or no more
	session  kind = "session"  // Text is its name; On: open, or no more
	notice   kind = "notice"   // Notice
	counted  kind = "counted"  // Counts since the last
)

// message is one line. Fields that are not named for a kind are zero.
type message struct {
	Kind   kind            `json:"kind"`
	Call   uint64          `json:"call,omitempty"`
	Text   string          `json:"text,omitempty"`
	N      int             `json:"n,omitempty"`
	ID     *msg.ID         `json:"id,omitempty"`
	Key    *effects.Key    `json:"key,omitempty"`
	On     bool            `json:"on,omitempty"`
	Result *effects.Result `json:"result,omitempty"`
	Notice *broker.Notice  `json:"notice,omitempty"`
	Counts *counts         `json:"counts,omitempty"`
	Job    *Job            `json:"job,omitempty"`
	// Error of an answer; empty is none.
	Error string `json:"error,omitempty"`
}

// counts for the screen.
type counts struct {
	Delivered int64 `json:"delivered,omitempty"`
	Handled   int64 `json:"handled,omitempty"`
	Failed    int64 `json:"failed,omitempty"`
	Settled   int64 `json:"settled,omitempty"`
}

// maxLine bounds a message: what is longer is not of this protocol. A job holds a
// workload's source of up to 1 MiB.
const maxLine = 8 << 20

// link is one end of the conversation. Sending is safe for concurrent use.
type link struct {
	lines *bufio.Scanner

	mu  sync.Mutex // guards out
	out *json.Encoder
}

func newLink(in io.Reader, out io.Writer) *link {
	l := &link{lines: bufio.NewScanner(in), out: json.NewEncoder(out)}
	l.lines.Buffer(make([]byte, 0, 4096), maxLine)
	return l
}

func (l *link) send(m message) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Encode(m)
}

// receive returns the next message, io.EOF when the other end is gone.
func (l *link) receive() (message, error) {
	var m message
	if !l.lines.Scan() {
		if err := l.lines.Err(); err != nil {
			return m, err
		}
		return m, io.EOF
	}
	if err := json.Unmarshal(l.lines.Bytes(), &m); err != nil {
		return m, fmt.Errorf("not a message: %.80q", l.lines.Bytes())
	}
	return m, nil
}
