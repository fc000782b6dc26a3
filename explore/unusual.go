// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"slices"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// maxUnusual bounds the messages of a large drawing, so that there is room for what
// happened to them and around them.
const maxUnusual = maxMarks / 8

// life is how often a message was delivered and done.
type life struct {
	id                         msg.ID
	delivered, effects, worked int
}

// unusual finds the first messages of a run that were not delivered once and done once.
func unusual(run *history.Run) (map[msg.ID]bool, error) {
	var lives []life
	at, effects := map[msg.ID]int{}, false
	err := run.Each(history.Only(history.PublishStart, history.Delivery, history.HandlerEnd, history.EffectResult), func(e *history.Event) {
		i, known := at[e.ID()]
		if !known {
			i = len(lives)
			at[e.ID()] = i
			lives = append(lives, life{id: e.ID()})
		}
		effects = effects || e.Kind == history.EffectResult
		lives[i].add(e)
	})
	found := map[msg.ID]bool{}
	for _, l := range slices.DeleteFunc(lives, func(l life) bool { return l.usual(effects) }) {
		if len(found) < maxUnusual {
			found[l.id] = true
		}
	}
	return found, err
}

func (l *life) add(e *history.Event) {
	switch {
	case e.Kind == history.Delivery:
		l.delivered++
	case e.Kind == history.HandlerEnd && !e.Has(history.Failed):
		l.worked++
	case e.Kind == history.EffectResult && e.Class == contract.OK && !e.Has(history.Skipped|history.Refused):
		l.effects++
	}
}

func (l *life) usual(effects bool) bool {
	done := l.worked
	if effects {
		done = l.effects
	}
	return l.delivered == 1 && done == 1
}
