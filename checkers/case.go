// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"iter"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// Case is what the checkers of one run share: who is who, and what is known so far of
// every message, hold, session and partition. Only the Judge changes it; a checker reads
// it while it observes a Moment.
type Case struct {
	*scene
	facts  *Facts
	tables [][]*pages          // by subscription and producer
	wild   []map[uint32]*pages // of producer numbers that nobody planned
	clean  []message           // by subscription
	memory *memory
	edit   edit // of a moment that is of no session
	flow   flow
	low    [][]uint64 // by subscription and producer: no message before is waited for
	faults faultLog
	// whenClean hears of every message from which nothing more is expected, before what
	// is known of it is let go.
	whenClean func(*message)
	ends      runEnd
	// unsubscribed is what producers were told of messages that nobody is owed.
	unsubscribed told
	brief        bool // nobody will see more than counts and verdicts

	now   int64
	index int64
}

// flow is how many messages are where, over all subscriptions.
type flow struct {
	waiting int64 // acked and never delivered
	open    int64 // acked and not through
}

// runEnd is how the run ended.
type runEnd struct {
	drainSeen, drained bool
	drainText          string
	interrupted        bool
	dropped            int64
	// incomplete: a part of the record is missing.
	incomplete bool
	audited    map[uint32]bool // places read to their end
	loadAt     int64           // end of the warm-up
}

func newCase(h *history.Header, names Names, memory *memory) *Case {
	c := &Case{scene: newScene(h, names), memory: memory}
	c.ends.audited = map[uint32]bool{}
	for _, sub := range c.subs {
		c.clean = append(c.clean, cleanMessage(sub, c.profile))
	}
	c.tables = make([][]*pages, len(c.subs))
	c.wild = make([]map[uint32]*pages, len(c.subs))
	c.facts = newFacts(c)
	return c
}

// maxProducers bounds the producer numbers that are taken for planned ones.
const maxProducers = 1 << 14

// table holds the messages of one producer in one subscription.
func (c *Case) table(sub int, producer uint32) *pages {
	if int(producer) < len(c.tables[sub]) {
		return c.tables[sub][producer]
	}
	return c.newTable(sub, producer)
}

func (c *Case) newTable(sub int, producer uint32) *pages {
	if producer >= maxProducers {
		return c.wildTable(sub, producer)
	}
	for uint32(len(c.tables[sub])) <= producer {
		c.tables[sub] = append(c.tables[sub], c.newPages(sub))
	}
	return c.tables[sub][producer]
}

func (c *Case) newPages(sub int) *pages {
	p := newPages(c.clean[sub], c.memory)
	p.sub, p.rest = c.subs[sub], c.atRest
	return p
}

// atRest tells whether nothing that is known of goes on with a message: no handler, and no
// hold that may still be settled.
func (c *Case) atRest(m *message) bool {
	if m.running > 0 {
		return false
	}
	for r := m.hold; ; {
		h := c.hold(r)
		switch {
		case h == nil, h.prev == r && h.finished():
			return true
		case !h.finished():
			return false
		}
		r = h.prev
	}
}

func (c *Case) wildTable(sub int, producer uint32) *pages {
	if c.wild[sub] == nil {
		c.wild[sub] = map[uint32]*pages{}
	}
	if c.wild[sub][producer] == nil {
		c.wild[sub][producer] = c.newPages(sub)
	}
	return c.wild[sub][producer]
}

// tablesOf yields the messages of a subscription by producer, in order.
func (c *Case) tablesOf(sub int) iter.Seq2[uint32, *pages] {
	return func(yield func(uint32, *pages) bool) {
		for producer, t := range c.tables[sub] {
			if !yield(uint32(producer), t) {
				return
			}
		}
		for _, producer := range sortedKeys(c.wild[sub]) {
			if !yield(producer, c.wild[sub][producer]) {
				return
			}
		}
	}
}

// load is what is known of a message. It is a copy.
func (c *Case) load(sub int, id msg.ID) message { return c.table(sub, id.Producer).get(id.Seq) }

// edit is a message that is being changed. It can go on with the same one.
type edit struct {
	sub           *subscription
	table         *pages
	seq           uint64
	message       *message
	moves         uint64 // of the memory, when the message was looked up
	producer      uint32
	waiting, open bool
	// quiet: the event neither makes a message clean nor moves it in the flow.
	quiet bool
}

// quietKinds are events that take a message nearer to its end and never there. One that
// was there already is clean, and is looked at all the same.
const quietKinds = history.KindSet(1<<history.PublishStart | 1<<history.HandlerStart |
	1<<history.EffectIntent | 1<<history.SettleStart)

// open begins to change a message; close ends it, before the next one begins.
func (c *Case) open(e *edit, sub int, id msg.ID) {
	c.find(e, sub, id)
	e.quiet = false
	e.waiting, e.open = e.message.flow(e.sub)
}

// find looks a message up.
func (c *Case) find(e *edit, sub int, id msg.ID) (busy bool) {
	table := c.table(sub, id.Producer)
	e.sub, e.table, e.seq, e.producer, e.moves = c.subs[sub], table, id.Seq, id.Producer, c.memory.moves
	e.message, busy = table.edit(id.Seq)
	return busy
}

// holds tells whether an edit has a message that may go on being changed. One that is
// clean is counted by its page, and one that is in none is put back after every event.
func (e *edit) holds(sub *subscription, id msg.ID, moves uint64) bool {
	return e.seq == id.Seq && e.sub == sub && e.producer == id.Producer && e.moves == moves &&
		!e.message.is(isClean) && e.message != &e.table.scratch
}

// openFor is open for an event of a kind.
func (c *Case) openFor(e *edit, sub int, id msg.ID, kind history.Kind) *message {
	busy := e.holds(c.subs[sub], id, c.memory.moves) || c.find(e, sub, id)
	known := e.message
	if e.quiet = busy && quietKinds.Has(kind); !e.quiet {
		e.waiting, e.open = known.flow(c.subs[sub])
	}
	return known
}

func (c *Case) close(e *edit) {
	if e.quiet {
		return
	}
	known, table := e.message, e.table
	if waiting, open := known.flow(e.sub); waiting != e.waiting || open != e.open {
		c.flow.waiting += change(e.waiting, waiting)
		c.flow.open += change(e.open, open)
	}
	clean := known.looksClean(&table.clean)
	if clean && c.whenClean != nil {
		c.whenClean(known)
	}
	if clean || known == &table.scratch {
		table.keep(e.seq, known, clean)
	}
}

// slot is an element of a slice that grows as far as it is asked for.
func slot[T any](all *[]T, i uint32) *T {
	if n := uint32(len(*all)); n <= i {
		*all = append(*all, make([]T, i+1-n)...)
	}
	return &(*all)[i]
}

// change is what a count gains when one of its members was before and is now.
func change(before, now bool) int64 {
	switch {
	case now && !before:
		return 1
	case before && !now:
		return -1
	}
	return 0
}

// flow tells whether a message is acked and was never delivered (waiting), and whether it
// is acked and not through (open).
func (m *message) flow(sub *subscription) (waiting, open bool) {
	if !m.is(sawOK | sawAccepted) {
		return false, false
	}
	return m.received == 0, !m.through(sub)
}

func (c *Case) hold(r ref) *hold {
	if r == (ref{}) {
		return nil
	}
	return c.session(r.session).holds.at(r.op)
}

// producerOf is the header's entry of a producer number, nil if there is none.
func (c *Case) producerOf(n uint32) *history.Producer {
	if int(n) < len(c.header.Producers) {
		return &c.header.Producers[n]
	}
	return nil
}

// spontaneous tells whether the contract allows a delivery without a cause.
func (c *Case) spontaneous() bool { return c.profile.SpontaneousCopies }

// successKinds are the events that can be the success of a message: where its subscription
// has effects an effect, else the end of a handler.
func (c *Case) successKinds() (kinds history.KindSet) {
	for _, sub := range c.subs {
		if sub.effects {
			kinds |= history.Only(history.EffectResult)
		} else {
			kinds |= history.Only(history.HandlerEnd)
		}
	}
	return kinds
}

// mayStore is how many copies of a message may be stored, by the answers so far.
func (c *Case) mayStore(id msg.ID, m *message) int {
	open := int(m.attempts) - int(m.answered)
	return int(m.copies) + open*c.copiesOfUnknown(id.Producer)
}

// storedOnce tells whether the attempts of one call are stored once, however many there are.
func (c *Case) storedOnce(p *history.Producer) bool {
	return p.Idempotent && c.profile.Can.Has(contract.Idempotence) || c.profile.Can.Has(contract.Deduplication)
}

// swallowed tells whether the broker must drop an attempt as one that it has stored.
func (c *Case) swallowed(known *message, m *Moment) bool {
	return c.profile.Can.Has(contract.Deduplication) && known.copies > 0 && m.T-known.sent < int64(c.profile.DedupWindow)
}

// copiesOfUnknown is how many copies an attempt without an answer may have stored.
func (c *Case) copiesOfUnknown(producer uint32) int {
	p := c.producerOf(producer)
	if p == nil || c.storedOnce(p) {
		return 1
	}
	return 1 + max(p.Retries, 0)
}
