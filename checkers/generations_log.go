// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"fmt"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

// rebalances follows the generations of the groups of a log: what was delivered of each
// partition and not committed when it got its owner, and what that owner is given again.
type rebalances struct {
	c       *Case
	all     []*epoch
	latest  []*epoch          // by subscription
	known   map[[2]int]*epoch // by subscription and the group's number
	tenures [][]*tenure       // by subscription and place
}

// tenure is one session's hold on a partition in one generation.
type tenure struct {
	in        *epoch
	session   uint32
	committed int64 // certainly, when it began
	end       int64 // how far the group had read by then
	bound     int64 // how much may come again
	again     int64
	sought    bool  // somebody moved the position on purpose
	freed     int64 // when the owner lost it, 0 not yet
	first     bool  // something came
	last      int64 // the latest delivery
	vacant    int64 // since when it had no owner
}

func (r *rebalances) Kinds() history.KindSet {
	if r.c != nil && r.c.profile.Model != contract.Log {
		return 0
	}
	return history.Only(history.SessionOpen, history.SessionClose, history.WorkerEnd, history.Assign, history.Revoke, history.Seek, history.Delivery)
}

func (r *rebalances) Begin(c *Case) {
	r.c, r.known = c, map[[2]int]*epoch{}
	r.latest, r.tenures = make([]*epoch, len(c.subs)), make([][]*tenure, len(c.subs))
	if c.profile.Model == contract.Log {
		c.facts.measure(redeliveredBeyond)
	}
}

func (r *rebalances) Observe(m *Moment) {
	if m.Kind == history.SessionClose || m.Kind == history.WorkerEnd {
		r.ended(m)
		return
	}
	if m.sub == nil {
		return
	}
	switch m.Kind {
	case history.SessionOpen:
		if m.Gen > 0 {
			r.epoch(m, m.sub).members[m.Session] = true
		}
	case history.Assign:
		if p := m.sub.partition(m.Event.Place); !p.superseded(m) {
			r.begins(m, whyThere(r.c.names(history.Texts, m.Text), p) != rewound)
		}
	case history.Revoke:
		if t := r.tenure(m); t != nil && t.session == m.Session && t.freed == 0 {
			t.freed = m.T
		}
	case history.Seek:
		if t := r.tenure(m); t != nil && t.session == m.Session {
			t.sought = true
		}
	case history.Delivery:
		r.delivered(m)
	}
}

func (r *rebalances) tenure(m *Moment) *tenure { return *slot(&r.tenures[m.sub.index], m.Event.Place) }

// epoch is the generation that an event is of. One without a number begins when a
// partition that it has assigned already is assigned again.
func (r *rebalances) epoch(m *Moment, sub *subscription) *epoch {
	latest, number := r.latest[sub.index], int64(m.Gen)
	switch known := r.known[[2]int{sub.index, int(m.Gen)}]; {
	case m.Gen > 0 && known != nil:
		return known
	case m.Gen == 0 && latest != nil && !r.assigned(m, latest):
		return latest
	case m.Gen == 0 && latest != nil:
		number = latest.Number + 1
	case m.Gen == 0:
		number = 1
	}
	if latest != nil {
		r.keepers(latest)
	}
	e := r.c.newEpoch(sub, KindRebalance, number, m.T)
	r.known[[2]int{sub.index, int(m.Gen)}] = e
	r.latest[sub.index] = e
	r.all = append(r.all, e)
	return e
}

// assigned tells whether a generation has assigned the partition of an event.
func (r *rebalances) assigned(m *Moment, e *epoch) bool {
	t := r.tenure(m)
	return t != nil && t.in == e
}

// keepers are members by what they kept over a cooperative rebalance.
func (r *rebalances) keepers(e *epoch) {
	for _, t := range r.tenures[e.sub] {
		if t != nil && t.freed == 0 {
			e.members[t.session] = true
		}
	}
}

// begins is where a session gets a partition.
func (r *rebalances) begins(m *Moment, told bool) {
	e := r.epoch(m, m.sub)
	e.members[m.Session] = true
	p, before := m.sub.partition(m.Event.Place), r.tenure(m)
	t := &tenure{in: e, session: m.Session, committed: p.certain(), end: p.read, sought: told, vacant: m.T}
	if before != nil {
		t.vacant = before.vacancy(m.T)
		if before.session != m.Session {
			e.Moved++
		}
	}
	t.bound = max(0, p.read-t.committed)
	e.Partitions++
	if !told {
		e.UncommittedMax += t.bound
		e.UncommittedMin += max(0, p.read-max(p.maybe, t.committed))
	}
	*slot(&r.tenures[m.sub.index], m.Event.Place) = t
}

// certain is the position that a group certainly has.
func (p *partition) certain() int64 {
	switch {
	case p.committed >= 0:
		return p.committed
	case p.start >= 0:
		return p.start
	}
	return p.read
}

// vacancy is since when nobody had it; an owner that was never told had it until its last
// delivery.
func (t *tenure) vacancy(now int64) int64 {
	switch {
	case t.freed > 0:
		return t.freed
	case t.last > 0:
		return t.last
	}
	return now
}

func (r *rebalances) delivered(m *Moment) {
	if !m.known || m.place.role != source {
		return
	}
	if m.began {
		r.begins(m, false) // nobody told of an assignment
	}
	t := r.tenure(m)
	switch {
	case t == nil:
	case t.session != m.Session:
		t.toFormer(m)
	default:
		if !t.first {
			t.first = true
			t.in.gap(t.vacant, m.T)
		}
		t.last = m.T
		if m.cameAgain() && !t.sought && m.Off < t.end {
			r.again(m, t)
		}
	}
}

// toFormer is a delivery to a session that lost the partition: what it is the first to
// read may come to the owner once more.
func (t *tenure) toFormer(m *Moment) {
	switch {
	case m.cameAgain():
		t.in.Late++
	case m.Off >= m.sub.partition(m.Event.Place).read:
		t.end = m.Off + 1
		t.bound++
		t.in.UncommittedMin++
		t.in.UncommittedMax++
	}
}

func (r *rebalances) again(m *Moment, t *tenure) {
	allowed := m.Off >= t.committed
	if allowed {
		t.again++
		allowed = t.again <= t.bound
	}
	t.in.again(r.c, m, allowed, fmt.Sprintf("%s: %d came again in generation %d, where %d is committed and %d were not",
		m.place.text, m.Off, t.in.Number, t.committed, t.bound))
}

// ended frees what a session or worker had.
func (r *rebalances) ended(m *Moment) {
	worker := ""
	if m.Kind == history.WorkerEnd {
		worker = r.c.names(history.Texts, m.Text)
	}
	for _, places := range r.tenures {
		for _, t := range places {
			if t != nil && t.freed == 0 && (t.session == m.Session || worker != "" && r.c.scene.session(t.session).worker == worker) {
				t.freed = m.T
			}
		}
	}
}

func (r *rebalances) Finish(f *Facts) {
	for _, e := range r.latest {
		if e != nil {
			r.keepers(e)
		}
	}
	tellEpochs(f, r.all)
}
