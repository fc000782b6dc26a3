// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"fmt"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// stores compares what stores of effects hold at the end with what was recorded of them
// while the workers were at it.
type stores struct {
	c    *Case
	read []bool                // by subscription: to its end
	held []map[msg.ID]struct{} // by subscription
}

func (s *stores) Kinds() history.KindSet {
	return history.Only(history.EffectFound, history.EffectsRead)
}

func (s *stores) Begin(c *Case) {
	s.c = c
	s.read, s.held = make([]bool, len(c.subs)), make([]map[msg.ID]struct{}, len(c.subs))
}

func (s *stores) Observe(m *Moment) {
	switch {
	case m.sub == nil:
	case m.Kind == history.EffectsRead:
		if m.Class == contract.OK {
			s.read[m.sub.index] = true
			s.c.facts.measure(storeDiffers)
		}
	default:
		s.found(m)
	}
}

func (s *stores) found(m *Moment) {
	held := &s.held[m.sub.index]
	if *held == nil {
		*held = map[msg.ID]struct{}{}
	}
	(*held)[m.id] = struct{}{}
	if m.message.attempts == 0 || m.message.is(intended) {
		return // nobody published it, or the store decides (effects.go)
	}
	if recorded := m.message.effects; m.N != uint32(recorded) {
		if x := s.c.facts.found(storeDiffers, m); x != nil {
			x.Text = fmt.Sprintf("%s recorded, and the store holds %d", counted(int64(recorded), "effect was", "effects were"), m.N)
		}
	}
}

// Finish looks for effects that are in no store.
func (s *stores) Finish(f *Facts) {
	for i, sub := range s.c.subs {
		if !s.read[i] {
			continue
		}
		for producer, t := range s.c.tablesOf(i) {
			for seq := range t.end() * pageSize {
				s.missing(f, sub, msg.ID{Producer: producer, Seq: seq})
			}
		}
	}
}

func (s *stores) missing(f *Facts, sub *subscription, id msg.ID) {
	if _, is := s.held[sub.index][id]; is {
		return
	}
	known := s.c.load(sub.index, id)
	if known.effects == 0 {
		return
	}
	if x := f.concluded(storeDiffers, sub, id, &known); x != nil {
		x.Text = counted(int64(known.effects), "effect was", "effects were") + " recorded, and the store holds none"
	}
}
