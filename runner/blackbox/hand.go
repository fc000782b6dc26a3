// SPDX-License-Identifier: Apache-2.0

package blackbox

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/seed-720a3c77/harness/broker"
)

// hand is what the program has of the broker's messages while it stands still, as far as
// it shows from outside: in the broker's figures and in the effects.
type hand struct {
	// measured: broker and store have told.
	measured bool
	// held is how many it has for certain: they were handed out, or done and not settled,
	// or settled and not done. More may be; what was only read of a log does not show.
	held int
	// waiting is how many more have been stored for longer than fetchedIn, unsettled: a
	// worker that is free would have taken them.
	waiting int
}

// fetchedIn is how long a message may be stored before a worker that is free has it.
const fetchedIn = 100 * time.Millisecond

// enoughTrials is how often a random fault looks for a message that is held for certain,
// before one that waits will do.
const enoughTrials = 8

// worth tells whether a fault may strike now. Near the end it cannot choose.
func (h hand) worth(trial int, last bool) bool {
	return h.held > 0 || (trial >= enoughTrials || last) && (h.waiting > 0 || !h.measured)
}

func (h hand) String() string {
	switch {
	case !h.measured:
		return "what was in hand is not known"
	case h.held == 0 && h.waiting > 0:
		return fmt.Sprintf("%d messages waited, nothing was in hand for certain", h.waiting)
	case h.held == 0:
		return "nothing was in hand"
	case h.held == 1:
		return "1 message was in hand"
	}
	return fmt.Sprintf("%d messages were in hand", h.held)
}

// shelf has what the broker took, record by record, until the program is through with it.
// Its methods may be called concurrently.
type shelf struct {
	mu      sync.Mutex // guards what follows
	records []stored
	// undone and did are the messages that the latest look found in flight.
	undone, did int
	// orphans are those of the look at which workers died: until their leases end they may
	// be in nobody's hand.
	orphans struct {
		undone, did int
		until       time.Duration
	}
}

// stored is a message as the broker has it; a message that was sent twice has two.
type stored struct {
	seq       uint64
	copied    bool
	partition int32
	offset    int64
	at        time.Duration
	// held in the latest look; orphaned: held when a worker died, which may have been its.
	held, orphaned bool
}

func (s *shelf) add(one stored) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records = append(s.records, one)
}

// onLog is the hand of a consumer group. The first record of a message that was done has
// been read, and so has what was settled; positions are those by partition.
func (s *shelf) onLog(positions map[int32]int64, done func(seq uint64) bool, now time.Duration) hand {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := hand{measured: positions != nil}
	kept := s.records[:0]
	for _, x := range s.records {
		if x.offset < 0 {
			continue // nobody knows where it is
		}
		settled, did := x.offset < positions[x.partition], done(x.seq)
		x.held = settled != did && (settled || !x.copied) && !x.orphaned
		switch {
		case settled && did:
			continue
		case x.held:
			h.held++
		case !settled && now-x.at > fetchedIn:
			h.waiting++
		}
		kept = append(kept, x)
	}
	s.records = kept
	return h
}

// onQueue is the hand of a queue's consumers: what the broker says is in flight, where its
// figure is fresh, or else what is not done and not ready any more.
func (s *shelf) onQueue(d *broker.Depth, fresh bool, done func(seq uint64) bool, now time.Duration) hand {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records = slices.DeleteFunc(s.records, func(x stored) bool { return done(x.seq) })
	ready, young, old := int(max(d.Ready, 0)+max(d.Delayed, 0)), 0, 0
	for i := range s.records {
		x := &s.records[i]
		x.held = true
		if now-x.at <= fetchedIn {
			young++
		}
		if x.orphaned {
			old++
		}
	}
	s.undone, s.did = max(len(s.records)-ready, 0), 0
	h := hand{measured: d.Ready >= 0, held: s.undone, waiting: max(ready-young, 0)}
	if fresh && d.InFlight >= 0 {
		h.held = int(d.InFlight)
		s.did = max(h.held-s.undone, 0)
		if now < s.orphans.until {
			h.held = max(h.held-s.orphans.did-min(s.orphans.undone, old), 0)
		}
	}
	return h
}

// orphan is told that workers died or froze at the latest look. What was held then may be
// in nobody's hand until a lease ends, or until a log is read again.
func (s *shelf) orphan(until time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.records {
		s.records[i].orphaned = s.records[i].orphaned || s.records[i].held
	}
	s.orphans.undone, s.orphans.did, s.orphans.until = s.undone, s.did, until
}
