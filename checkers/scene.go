// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"strings"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

// Names gives the text of an interned reference, "" for one it does not know.
type Names func(history.Table, uint32) string

// nobody is the subscription of a session or place that no subscription owns.
const nobody = -1

// role is what a place is to the subscription that owns it.
type role uint8

const (
	source role = iota
	retry
	deadLetter
)

// scene is who and where in a run: every reference is resolved once.
type scene struct {
	header   *history.Header
	profile  *contract.Profile
	names    Names
	subs     []*subscription
	places   []*place
	sessions []*session
	fed      map[string][]int
}

// subscription is who is owed the messages of some destinations.
type subscription struct {
	history.Subscription
	index      int
	log        bool
	effects    bool // an effect is wanted, not only a handler run
	limit      int  // deliveries by the broker before a message leaves; 0 is unlimited
	deadLetter string
	single     bool  // one consumer at a time gets messages
	ttl        int64 // ns; 0: messages do not expire
	workers    map[string]bool
	partitions []*partition // by place
	unseen     bool         // deliveries may have happened that no client saw
	left, died int64        // sessions that ended, and of them not politely: they may have given back what no client saw
	missed     bool         // answers with deliveries may have been lost on their way
	moved      bool         // somebody moved a position on purpose
	idleAt     int64        // the latest empty poll
	diedAt     int64        // the latest death of a worker that is a program
}

// place is a destination and partition.
type place struct {
	ref       uint32
	text      string // as it is shown: orders/0
	role      role
	owner     int   // subscription whose messages these are, or nobody
	feeds     []int // subscriptions that a publish to here is owed to
	partition string
}

func newScene(h *history.Header, names Names) *scene {
	s := &scene{header: h, profile: &h.Profile, names: names, fed: map[string][]int{}}
	for _, sub := range h.Subscriptions {
		if d := s.destination(sub.From); d == nil || d.DeadLetterOf == "" {
			s.subscribe(sub)
		}
	}
	for i := range h.Producers {
		if to := h.Producers[i].To; len(s.feeds(to)) == 0 {
			s.subscribe(history.Subscription{From: to, Published: []string{to}, Effect: "none"})
		}
	}
	return s
}

func (s *scene) subscribe(from history.Subscription) {
	sub := &subscription{Subscription: from, index: len(s.subs), workers: map[string]bool{}}
	sub.log = s.profile.Model == contract.Log
	sub.effects = from.Effect != "" && from.Effect != "none"
	if d := s.destination(from.From); d != nil {
		sub.limit = s.limit(d)
		sub.deadLetter, sub.single, sub.ttl = d.DeadLetter, d.SingleActive, int64(d.TTL)
	}
	s.subs = append(s.subs, sub)
}

// limit is how often the broker itself delivers a message at most; 0 is without end.
func (s *scene) limit(d *history.Destination) int {
	switch {
	case !s.profile.Can.Has(contract.DeadLetter):
		return 0
	case d.MaxDeliveries == 0:
		return s.profile.Limit.Default
	}
	return max(d.MaxDeliveries, 0)
}

// destination finds one by the workload's name or by the broker's.
func (s *scene) destination(name string) *history.Destination {
	for i := range s.header.Destinations {
		if d := &s.header.Destinations[i]; d.Name == name || d.Broker == name {
			return d
		}
	}
	return nil
}

// same tells whether two names are of one destination.
func (s *scene) same(a, b string) bool {
	if a == b {
		return true
	}
	d := s.destination(a)
	return d != nil && (d.Name == b || d.Broker == b)
}

// feeds lists the subscriptions that a publish to a destination is owed to.
func (s *scene) feeds(destination string) (feeds []int) {
	for _, sub := range s.subs {
		if s.same(sub.From, destination) {
			feeds = append(feeds, sub.index)
			continue
		}
		for _, p := range sub.Published {
			if s.same(p, destination) {
				feeds = append(feeds, sub.index)
				break
			}
		}
	}
	return feeds
}

// feedsTo is feeds, remembered.
func (s *scene) feedsTo(destination string) []int {
	feeds, known := s.fed[destination]
	if !known {
		feeds = s.feeds(destination)
		s.fed[destination] = feeds
	}
	return feeds
}

// place resolves a reference.
func (s *scene) place(ref uint32) *place {
	if int(ref) < len(s.places) && s.places[ref] != nil {
		return s.places[ref]
	}
	return s.newPlace(ref)
}

func (s *scene) newPlace(ref uint32) *place {
	p := slot(&s.places, ref)
	*p = s.locate(ref)
	return *p
}

func (s *scene) locate(ref uint32) *place {
	name, partition, _ := strings.Cut(s.names(history.Places, ref), "|")
	p := &place{ref: ref, text: name, owner: nobody, partition: partition}
	if partition != "" {
		p.text += "/" + partition
	}
	root := name
	for d := s.destination(root); d != nil && d.DeadLetterOf != ""; d = s.destination(root) {
		p.role = retry
		root = d.DeadLetterOf
	}
	if p.role == retry && s.isDeadLetter(name) {
		p.role = deadLetter
	}
	for _, sub := range s.subs {
		if s.same(sub.From, root) {
			p.owner = sub.index
			break
		}
	}
	if p.role == source {
		p.feeds = s.feeds(name)
	}
	return p
}

func (s *scene) isDeadLetter(name string) bool {
	for i := range s.header.Destinations {
		if d := &s.header.Destinations[i]; d.DeadLetter != "" && s.same(d.DeadLetter, name) {
			return true
		}
	}
	return false
}

// subscriptionOf finds whose work a session of a group on a destination does. A session
// on a retry topic works for the subscription of its source.
func (s *scene) subscriptionOf(group, destination string) int {
	root := destination
	for d := s.destination(root); d != nil && d.DeadLetterOf != ""; d = s.destination(root) {
		root = d.DeadLetterOf
	}
	found, close := nobody, -1
	for _, sub := range s.subs {
		if !s.same(sub.From, root) {
			continue
		}
		if fit := sub.fits(group); fit > close {
			found, close = sub.index, fit
		}
	}
	return found
}

// fits tells how well a group's name fits a subscription: on a log the broker's name of a
// group may have a prefix of the run, and a retry topic's group one more word behind. -1
// is a reader without a group, who works for nobody.
func (s *subscription) fits(group string) int {
	switch {
	case !s.log:
		return 0
	case group == "":
		return -1
	case group == s.Name, strings.HasSuffix(group, "-"+s.Name):
		return 2 * len(group)
	case strings.Contains(group, s.Name):
		return len(s.Name)
	}
	return 0
}
