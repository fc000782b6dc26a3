// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"fmt"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

// Glance is what answers and effects alone tell of a run, over all subscriptions.
type Glance struct {
	// Acked counts the ids that were, Missing those of them that were never done: lost,
	// dead-lettered or undrained, which takes a Check to tell.
	Acked, Missing int64
	// Again counts ids that were done more than once.
	Again int64
}

// GlanceAt counts missing and repeated work many times as fast as Check: from two kinds of
// events, in any order, and a few fields of each. It judges nothing.
func GlanceAt(run *history.Run) (Glance, error) {
	g := newGlance(newScene(&run.Header, run.Name))
	c := Case{scene: g.scene}
	kinds := history.Only(history.PublishAnswer) | c.successKinds()
	fields := history.FieldSeq | history.FieldSession | history.FieldClass | history.FieldFlags | history.FieldN
	if err := run.Scan(kinds, fields, g.observe); err != nil {
		return Glance{}, fmt.Errorf("glance at %s: %w", run.Header.Run, err)
	}
	return g.sum(), nil
}

// glance folds events into a byte for each id whose work is outstanding or was repeated.
type glance struct {
	*scene
	feeds  [][]int     // by producer: the subscriptions that its messages are owed to
	tables [][]glances // by subscription and producer
}

func newGlance(s *scene) glance {
	g := glance{scene: s, feeds: make([][]int, len(s.header.Producers))}
	for i := range g.feeds {
		g.feeds[i] = s.feedsTo(s.header.Producers[i].To)
	}
	return g
}

func (g *glance) observe(events []history.Event) {
	for i := range events {
		if e := &events[i]; e.Kind == history.PublishAnswer {
			g.answer(e)
		} else {
			g.success(e)
		}
	}
}

func (g *glance) answer(e *history.Event) {
	if e.Class != contract.OK || int(e.Producer) >= len(g.feeds) {
		return
	}
	for _, sub := range g.feeds[e.Producer] {
		g.table(sub, e.Producer).change(e.Seq, glanceAcked, 0)
	}
}

func (g *glance) success(e *history.Event) {
	sub := g.session(e.Session).sub
	if sub == nobody || e.Producer >= maxProducers {
		return
	}
	if n := g.times(g.subs[sub], e); n > 0 {
		g.table(sub, e.Producer).change(e.Seq, 0, n)
	}
}

// times is how often the work was done by an event: once, or in all as its store says.
func (g *glance) times(sub *subscription, e *history.Event) uint8 {
	switch {
	case sub.effects:
		times := effectsAfter(0, e)
		if times > 0 && e.N > 0 {
			return min(times, glanceTimes) | glanceStands
		}
		return times
	case e.Kind == history.HandlerEnd && !e.Has(history.Failed):
		return 1
	}
	return 0
}

func (g *glance) table(sub int, producer uint32) *glances {
	if sub < len(g.tables) && int(producer) < len(g.tables[sub]) {
		return &g.tables[sub][producer]
	}
	return slot(slot(&g.tables, uint32(sub)), producer)
}

func (g *glance) sum() (sum Glance) {
	for _, producers := range g.tables {
		for i := range producers {
			producers[i].sum(&sum)
		}
	}
	return sum
}
