// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"time"

	"github.com/seed-720a3c77/harness/msg"
)

// script is what the handler does with one message, or with every n-th of a producer.
type script struct {
	id    *msg.ID
	every uint64
	do    string
	times int
	wait  time.Duration
}

func scripts(g *GroupPlan) []script {
	var all []script
	for _, s := range g.Handler.Script {
		made := script{every: uint64(s.Every), do: s.Do, times: s.Times, wait: s.For.Std()}
		if id, err := msg.ParseID(s.ID); err == nil {
			made.id = &id
		}
		all = append(all, made)
	}
	return all
}

// slowest is the longest that a handler is at work on one message by intent.
func (g *GroupPlan) slowest() time.Duration {
	var late time.Duration
	for _, s := range g.Handler.Script {
		late = max(late, s.For.Std())
	}
	return g.Takes + late
}

func (s *script) matches(id msg.ID) bool {
	if s.id != nil {
		return *s.id == id
	}
	return s.every > 0 && id.Seq%s.every == s.every-1
}

// hasScript tells whether any script is for a message.
func (g *group) hasScript(id msg.ID) bool {
	for i := range g.scripts {
		if g.scripts[i].matches(id) {
			return true
		}
	}
	return false
}

// scripted finds what is to happen to a message that has failed so often before.
func (g *group) scripted(id msg.ID, failures int) *script {
	for i := range g.scripts {
		s := &g.scripts[i]
		if s.matches(id) && (s.times == 0 || failures < s.times) {
			return s
		}
	}
	return nil
}
