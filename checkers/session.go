// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"strings"

	"github.com/seed-720a3c77/harness/history"
)

// session is a producer's or consumer's session.
type session struct {
	ref     uint32
	worker  string
	sub     int
	target  string // destination
	open    bool
	died    bool
	ended   Cause // why it closed; noCause while it has not
	counted bool  // among the workers of its subscription
	last    int64 // its latest event
	holds   holds
	edit    edit  // of the message that it was about last
	held    int64 // deliveries not settled
	peak    int64
	claims  []assignment // by place
	forward map[uint32]uint32
}

// assignment is one session's hold on one partition of a log.
type assignment struct {
	state assignmentState
	from  int64 // where it began; -1 not known yet
	next  int64 // the next offset that it reads
	end   int64 // how far its group had read when it began
	cause Cause // what a second reading of [from, end) is excused with
}

type assignmentState uint8

const (
	unassigned assignmentState = iota
	assigned
	revoked
)

// partition is one subscription's view of one partition of a log. A position is the next
// offset to read; a position that is not certain is a range.
type partition struct {
	start     int64 // where the group first began; -1 unknown
	read      int64 // next after the highest delivered
	committed int64 // certainly at least this; -1 nothing
	top       int64 // the highest that was certainly committed
	maybe     int64 // the highest that may have been committed
	topAt     int64 // when the answer of top came
	owner     uint32
	ownerGen  uint32
	since     int64 // when the owner took over
}

func (s *scene) session(ref uint32) *session {
	if int(ref) < len(s.sessions) && s.sessions[ref] != nil {
		return s.sessions[ref]
	}
	return s.newSession(ref)
}

func (s *scene) newSession(ref uint32) *session {
	one := slot(&s.sessions, ref)
	*one = s.join(ref)
	return *one
}

// join reads "name|group|destination|number".
func (s *scene) join(ref uint32) *session {
	part := strings.SplitN(s.names(history.Sessions, ref)+"|||", "|", 4)
	return &session{ref: ref, worker: workerName(part[0]), sub: s.subscriptionOf(part[1], part[2]), target: part[2]}
}

// claim finds a session's assignment of a place, which may not be active.
func (s *session) claim(place uint32) *assignment {
	if int(place) < len(s.claims) {
		return &s.claims[place]
	}
	return slot(&s.claims, place)
}

// partition finds a subscription's view of a place.
func (s *subscription) partition(place uint32) *partition {
	if int(place) < len(s.partitions) && s.partitions[place] != nil {
		return s.partitions[place]
	}
	return s.newPartition(place)
}

// superseded tells whether a session is told of an assignment that is over: it stood still
// meanwhile, and a later generation has given the partition to somebody.
func (p *partition) superseded(m *Moment) bool { return m.Gen > 0 && m.Gen < p.ownerGen }

func (s *subscription) newPartition(place uint32) *partition {
	p := slot(&s.partitions, place)
	*p = &partition{start: -1, committed: -1, top: -1, maybe: -1}
	return *p
}

// workerName is the worker of a session's name: a worker that is started again, or that
// connects again, appends numbers to its own ("billing/0-2-1").
func workerName(session string) string {
	slash := strings.LastIndexByte(session, '/')
	if dash := strings.IndexByte(session[slash+1:], '-'); slash >= 0 && dash > 0 {
		return session[:slash+1+dash]
	}
	return session
}
