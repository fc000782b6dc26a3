// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"math"
	"slices"

	"github.com/seed-720a3c77/harness/msg"
)

// isolation is what of a partition is not for every reader.
type isolation struct {
	// open are the transactions with records here, in the order of their first ones.
	open []openTransaction
	// hidden are the offsets that some readers pass over, and which.
	hidden map[int64]hiddenFrom
}

type openTransaction struct {
	of    *transaction
	first int64
}

// hiddenFrom says who passes over an offset.
type hiddenFrom uint8

const (
	// nobody is the zero value.
	nobody hiddenFrom = iota
	// aborted is for those who read what is not committed too.
	aborted
	// marker is for nobody: it tells that a transaction ended.
	marker
)

// markerID is of no message.
var markerID = msg.ID{Producer: math.MaxUint32, Seq: math.MaxUint64}

// stable is the last stable offset: before it every transaction has ended.
func (p *partition) stable() int64 {
	if len(p.isolation.open) > 0 {
		return max(p.records.start, p.isolation.open[0].first)
	}
	return p.records.end
}

// opened notes the first record of a transaction.
func (p *partition) opened(t *transaction, offset int64) {
	if !slices.ContainsFunc(p.isolation.open, func(o openTransaction) bool { return o.of == t }) {
		p.isolation.open = append(p.isolation.open, openTransaction{t, offset})
	}
}

// ended writes the marker of a transaction, and wakes who waited for it.
func (p *partition) ended(t *transaction) {
	p.isolation.open = slices.DeleteFunc(p.isolation.open, func(o openTransaction) bool { return o.of == t })
	p.hide(p.records.append(payload{id: markerID}), marker)
	p.wake()
}

func (p *partition) hide(offset int64, from hiddenFrom) {
	if p.isolation.hidden == nil {
		p.isolation.hidden = map[int64]hiddenFrom{}
	}
	p.isolation.hidden[offset] = from
}

// end is where a claim has to stop.
func (cl *claim) end() int64 {
	if cl.of.committed {
		return cl.p.stable()
	}
	return cl.p.records.end
}

// passesOver moves past an offset that is not for this reader.
func (cl *claim) passesOver() bool {
	from := cl.p.isolation.hidden[cl.pos]
	if from == nobody || from == aborted && !cl.of.committed {
		return false
	}
	cl.pos++
	return true
}
