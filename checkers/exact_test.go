// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"strconv"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

// TestExactLog tells operations of transactions: "w0 ok s0@1 r3@4 r5" is one of session w0
// that went well, sent p0/0 to offset 1, read p0/3 at 4, and p0/5 without being told where.
// Anything that is no operation moves the session's position.
func TestExactLog(t *testing.T) {
	for _, s := range exactStories() {
		t.Run(s.name, func(t *testing.T) {
			r := s.tale.checkExact()
			wantFindings(t, &r, s.want)
		})
	}
}

func exactStories() []story {
	ww := operations("w0 ok s0@0,0 s1@1,1", "w1 ok s2@1,0 s3@0,1")
	ww.header.Settings = map[string]string{"ww-deps": "true"}
	return []story{
		{"all is well", operations("w0 ok s0@0 s1@1", "w1 ok s2@2", "w2 ok r0@0 r1@1", "w2 ok r2@2"), ""},
		{"two ids at one offset", operations("w0 ok s0@0", "w1 ok s1@0"), "inconsistent-offset p0/1; write-behind-known p0/1"},
		{"an unknown one is not believed", operations("w0 unknown s0@0 s2@1", "w1 ok s1@0"), ""},
		{"until something of it is read", operations("w0 unknown s0@0 s2@1", "w1 ok s1@0", "w2 ok r2@1"), "inconsistent-offset p0/1; lost-write p0/0 p0/1; torn-transaction p0/0"},
		{"one id at two offsets", operations("w0 ok s0@0", "w1 ok r0@1"), "duplicate-in-log p0/0"},
		{"read twice is not stored twice", operations("w0 ok s0@0 s1@1", "w1 ok r0@0", "w2 ok r0@0"), ""},
		{"nobody read it", operations("w0 ok s0@0", "w0 ok s1@1", "w1 ok r1@1"), "lost-write p0/0"},
		{"nobody read that far", operations("w0 ok s0@0", "w0 ok s1@1", "w1 ok r0@0"), ""},
		{"a failed reader does not count", operations("w0 ok s0@0", "w0 ok s1@1", "w1 rejected r1@1"), ""},
		{"a part is missing", operations("w0 ok s0@0 s1@1", "w1 ok r1@1"), "lost-write p0/0; torn-transaction p0/0"},
		{"read what failed", operations("w0 rejected s0@0", "w1 ok r0@0"), "aborted-read p0/0"},
		{"read its own", operations("w0 ok s0@0 r0@0"), "precommitted-read p0/0"},
		{"skips between polls", operations("w0 ok s0@0 s1@1 s2@2", "w1 ok r0@0", "w1 ok r2@2", "w2 ok r0@0 r1@1"), "poll-skip p0/1"},
		{"skips inside one", operations("w0 ok s0@0 s1@1 s2@2", "w1 ok r0@0 r2@2", "w2 ok r0@0 r1@1"), "poll-skip p0/1"},
		{"a hole is no skip", operations("w0 ok s0@0 s2@7", "w1 ok r0@0", "w1 ok r2@7"), ""},
		{"moved in between", operations("w0 ok s0@0 s1@1 s2@2", "w1 ok r0@0", "w1 moved", "w1 ok r2@2", "w2 ok r0@0 r1@1"), ""},
		{"goes back", operations("w0 ok s0@0 s1@1", "w1 ok r0@0 r1@1", "w1 ok r0@0"), "nonmonotonic-poll p0/0"},
		{"goes back inside one", operations("w0 ok s0@0 s1@1", "w1 ok r1@1 r0@0"), "nonmonotonic-poll p0/0"},
		{"a failed one has to go back", operations("w0 ok s0@0 s1@1", "w1 ok r0@0", "w1 rejected r1@1", "w1 unknown r1@1", "w1 ok r1@1"), ""},
		{"sent later, stands before", operations("w0 ok s0@1", "w0 ok s1@0"), "nonmonotonic-send p0/1; write-behind-known p0/1"},
		{"sent later, stands before, inside one", operations("w0 ok s0@1 s1@0"), "nonmonotonic-send p0/1"},
		{"others in between", operations("w0 ok s0@0 s2@2", "w1 ok s1@1"), "send-skip p0/1; write-behind-known p0/1"},
		{"writes in a circle", ww, "write-behind-known p0/3; write-cycle p0/0"},
		{"each saw the other", operations("w0 ok s0@0 r1@0,1", "w1 ok s1@0,1 r0@0"), "read-cycle p0/0; write-behind-known p0/1"},
		{"stored behind what another had read", operations("w0 ok s0@5", "w1 ok r0@5", "w2 ok s1@3"), "lost-write p0/1; write-behind-known p0/1"},
		{"a second attempt, stored at the first", operations("w0 ok s0@5", "w1 unknown s1@6", "w2 ok s2@7", "w3 ok s1@6"), ""},
		{"three in a circle", operations("w0 ok s0 r2", "w1 ok s1 r0", "w2 ok s2 r1"), "read-cycle p0/0"},
	}
}

// operations tells transactions on a log; "@4,1" is offset 4 of partition 1.
func operations(all ...string) *tale {
	t := tell(kafka)
	for i, text := range all {
		t.operation(uint32(i+1), text)
	}
	return t
}

func (t *tale) operation(number uint32, text string) {
	word := strings.Fields(text)
	session := t.session(word[0])
	if word[1] == "moved" {
		t.add(history.Event{Kind: history.Seek, Session: session, Place: t.place("orders")})
		return
	}
	class := map[string]contract.Class{"ok": contract.OK, "unknown": contract.Unknown, "rejected": contract.Rejected}[word[1]]
	t.add(history.Event{Kind: history.TxnBegin, Session: session, Op: number})
	for _, w := range word[2:] {
		t.microOperation(session, class, w)
	}
	t.add(history.Event{Kind: history.TxnCommit, Session: session, Op: number, Class: class})
}

func (t *tale) microOperation(session uint32, class contract.Class, text string) {
	seq, at, known := strings.Cut(text[1:], "@")
	n, _ := strconv.ParseUint(seq, 10, 64)
	e := history.Event{Seq: n, Session: session, Off: -1, Place: t.place("orders|0"), Class: class}
	if known {
		off, partition, _ := strings.Cut(at, ",")
		e.Off, _ = strconv.ParseInt(off, 10, 64)
		if partition != "" {
			e.Place = t.place("orders|" + partition)
		}
	}
	t.ops["micro"]++
	e.Op = t.ops["micro"]
	if text[0] == 'r' {
		e.Kind = history.Delivery
		t.add(e)
		return
	}
	start := e
	start.Kind, start.Off, start.Class = history.PublishStart, 0, 0
	t.add(start)
	e.Kind = history.PublishAnswer
	t.add(e)
}

// checkExact judges the tale by the rules of the whole log alone.
func (t *tale) checkExact() Result {
	j := newJudge(&t.header, t.name, []Checker{&exactLog{}}, new(memory))
	for i := range t.events {
		j.Observe(&t.events[i])
	}
	return j.Finish()
}
