// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"testing"

	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// TestEditFollowsItsMessage: a session goes on with a message whose page has been given to
// others meanwhile.
func TestEditFollowsItsMessage(t *testing.T) {
	s := tell(sqs)
	c := newCase(&s.header, s.name, new(memory))
	var mine, others edit
	slow := msg.ID{Seq: 7}
	change := func(e *edit, id msg.ID, by func(*message)) {
		by(c.openFor(e, 0, id, history.EffectResult))
		c.close(e)
	}
	change(&mine, slow, func(m *message) { m.attempts = 5 })
	for seq := range uint64(20 * pageSize) {
		if seq != slow.Seq {
			change(&others, msg.ID{Seq: seq}, func(m *message) { *m = c.clean[0]; m.marks &^= isClean })
		}
	}
	if c.memory.moves == 0 {
		t.Fatal("no page was given back")
	}
	change(&mine, slow, func(m *message) { m.runs++ })
	change(&others, msg.ID{Seq: 3}, func(m *message) { m.marks &^= isClean }) // where no page is, there is one place for all
	change(&mine, slow, func(m *message) { m.runs++ })
	if got := c.load(0, slow); got.attempts != 5 || got.runs != 2 {
		t.Errorf("%d attempts, %d runs, want 5 and 2", got.attempts, got.runs)
	}
}
