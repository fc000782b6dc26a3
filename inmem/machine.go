// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"errors"
	"fmt"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

// Session names a producer or consumer that the machine serves. Zero is none.
type Session int32

// Options are what a machine has besides its profile. The zero value is an honest engine.
type Options struct {
	// Oracle, if set, is told what the engine really does. It must not call the machine.
	Oracle func(OracleEvent)
	// Bugs are planted; see Bugs for the list.
	Bugs []Bug
	// Sweep is an instant at which a broker that looks at its leases once in a while did so:
	// a client cannot choose where in that period it begins.
	Sweep time.Duration
	// Pace is what takes time in the groups of a log.
	Pace Pace
	// Pick, if set, chooses one of so many claims that all could fill a shared buffer; the first
	// one does otherwise.
	Pick func(of int) int
}

// Machine is a broker and the passive part of its clients. It has no goroutine, clock or
// lock and never waits: every operation is told the time, which must not go back, and
// first applies the deadlines before it. Deadlines at that very instant are left to
// Advance, so that the order of a tie is decided outside.
//
// A Machine is not safe for concurrent use.
type Machine struct {
	rules     rules
	now       time.Duration
	agenda    agenda
	model     model
	producers []*producer
	consumers []consumer
	outs      []Out
	oracle    func(OracleEvent)
	bugs      *planted
	texts     texts
	sweep     time.Duration
	pace      Pace
	pick      func(int) int
}

// Out is something the machine has to say to a session. With a Notice it is that; without
// one there is, or may be, something to receive: a wake.
type Out struct {
	Session Session
	Notice  *broker.Notice
}

// model is one shape of broker.
type model interface {
	// check refuses what the model cannot make, before anything is made.
	check(d *broker.Destination) error
	declare(d broker.Destination)
	has(name string) bool
	remove(name string)
	purge(name string)
	depth(name, group string) broker.Depth
	publish(p *producer, number uint64, m *msg.Message) (broker.Receipt, error)
	open(s Session, spec broker.ConsumerSpec) (consumer, error)
}

// consumer is one consumer in its model.
type consumer interface {
	receive(wait time.Duration, into []broker.Delivery) (int, error)
	// buffered tells whether receive needs no request to the broker.
	buffered() bool
	// unwait ends the wait of a receive that returned nothing; cancelled means that the
	// client gave up on it before its time.
	unwait(cancelled bool)
	settle(s *broker.Settlement) error
	seek(partition int32, offset int64) error
	pause(bool) error
	heartbeat()
	autoCommit()
	leave()
	vanish()
}

// New makes a machine that behaves as a profile says. A profile without a model or with
// a knob that cannot be read is an error, and so is an unknown bug.
func New(profile contract.Profile, opts Options) (*Machine, error) {
	r, err := readRules(profile)
	if err != nil {
		return nil, fmt.Errorf("inmem: %w", err)
	}
	bugs, err := plant(opts.Bugs, profile.Model)
	if err != nil {
		return nil, fmt.Errorf("inmem: %w", err)
	}
	m := &Machine{rules: r, oracle: opts.Oracle, bugs: bugs, sweep: opts.Sweep, producers: []*producer{nil}, consumers: []consumer{nil}}
	m.pace, m.pick = opts.Pace, opts.Pick
	switch profile.Model {
	case contract.Log:
		m.model = newLogs(m)
	case contract.LeaseQueue:
		m.model = newLeaseQueues(m)
	case contract.PushQueue:
		m.model = newPushQueues(m)
	default:
		return nil, fmt.Errorf("inmem: profile %q has no model", profile.Name)
	}
	return m, nil
}

// Next returns the earliest deadline, if there is one.
func (m *Machine) Next() (time.Duration, bool) { return m.agenda.next() }

// Advance applies all deadlines up to now, in the order of (time, arming).
func (m *Machine) Advance(now time.Duration) {
	m.begin(now)
	m.agenda.run(now, true)
}

// Drain appends what the machine has to say to dst and forgets it.
func (m *Machine) Drain(dst []Out) []Out {
	dst = append(dst, m.outs...)
	clear(m.outs)
	m.outs = m.outs[:0]
	return dst
}

func (m *Machine) begin(now time.Duration) {
	m.agenda.run(now, false)
	m.now = max(m.now, now)
}

func (m *Machine) wake(s Session) { m.outs = append(m.outs, Out{Session: s}) }

func (m *Machine) notify(s Session, n broker.Notice) {
	m.outs = append(m.outs, Out{Session: s, Notice: &n})
}

// Declare makes a topology, or nothing of it: the error is broker.ErrExists,
// broker.ErrUnsupported or broker.ErrNotFound.
func (m *Machine) Declare(now time.Duration, t broker.Topology) error {
	m.begin(now)
	if err := m.checkTopology(t); err != nil {
		return err
	}
	for _, d := range t.Destinations {
		m.model.declare(d)
	}
	return nil
}

// Remove deletes destinations; one that is not there is no error.
func (m *Machine) Remove(now time.Duration, names ...string) {
	m.begin(now)
	for _, name := range names {
		if m.model.has(name) {
			m.model.remove(name)
		}
	}
}

// Purge empties a destination.
func (m *Machine) Purge(now time.Duration, name string) error {
	m.begin(now)
	if !m.can(contract.Purge) {
		return unsupported("purge")
	}
	if !m.model.has(name) {
		return notFound(name)
	}
	m.model.purge(name)
	return nil
}

// Depth measures a destination as a group sees it.
func (m *Machine) Depth(now time.Duration, name, group string) (broker.Depth, error) {
	m.begin(now)
	if !m.model.has(name) {
		return broker.Depth{}, notFound(name)
	}
	return m.model.depth(name, group), nil
}

// OpenConsumer starts a consumer.
func (m *Machine) OpenConsumer(now time.Duration, spec broker.ConsumerSpec) (Session, error) {
	m.begin(now)
	if err := m.checkConsumer(spec); err != nil {
		return 0, err
	}
	s := Session(len(m.consumers))
	m.consumers = append(m.consumers, nil)
	c, err := m.model.open(s, spec)
	if err != nil {
		return 0, err
	}
	m.consumers[s] = c
	return s, nil
}

// Receive fills into and returns how many. If there is nothing, a wake will come once
// there may be: a poll of a lease queue waits that long, the others until they are told
// otherwise by Unwait or served by the next Receive.
func (m *Machine) Receive(now time.Duration, s Session, wait time.Duration, into []broker.Delivery) (int, error) {
	m.begin(now)
	c := m.consumers[s]
	if c == nil {
		return 0, broker.ErrClosed
	}
	return c.receive(wait, into)
}

// Buffered tells whether a Receive would be served from the client's own buffer.
func (m *Machine) Buffered(now time.Duration, s Session) bool {
	m.begin(now)
	c := m.consumers[s]
	return c == nil || c.buffered()
}

// Unwait ends the wait of a Receive that returned nothing and hands on a wake that was
// promised to it. A cancelled one was given up by the client before it ran out.
func (m *Machine) Unwait(now time.Duration, s Session, cancelled bool) {
	m.begin(now)
	if c := m.consumers[s]; c != nil {
		c.unwait(cancelled)
	}
}

// Settle applies settlements in order and writes one result each.
func (m *Machine) Settle(now time.Duration, s Session, all []broker.Settlement, results []error) {
	m.begin(now)
	for i := range all {
		results[i] = m.settle(s, &all[i])
	}
}

func (m *Machine) settle(s Session, one *broker.Settlement) error {
	c := m.consumers[s]
	if c == nil {
		return &broker.Error{Op: one.Verb.String(), Answer: contract.Closed, Class: contract.Rejected, Err: broker.ErrClosed}
	}
	return c.settle(one)
}

// Seek moves a consumer's position.
func (m *Machine) Seek(now time.Duration, s Session, partition int32, offset int64) error {
	return m.steer(now, s, contract.Seek, func(c consumer) error { return c.seek(partition, offset) })
}

// Pause stops fetching, or goes on with it.
func (m *Machine) Pause(now time.Duration, s Session, paused bool) error {
	return m.steer(now, s, contract.PauseConsumer, func(c consumer) error { return c.pause(paused) })
}

func (m *Machine) steer(now time.Duration, s Session, need contract.Capability, do func(consumer) error) error {
	m.begin(now)
	if !m.can(need) {
		return unsupported(need.String())
	}
	if c := m.consumers[s]; c != nil {
		return do(c)
	}
	return broker.ErrClosed
}

// Heartbeat shows that the client of a session lives.
func (m *Machine) Heartbeat(now time.Duration, s Session) {
	m.begin(now)
	if c := m.consumers[s]; c != nil {
		c.heartbeat()
	}
}

// AutoCommit commits what a session has marked.
func (m *Machine) AutoCommit(now time.Duration, s Session) {
	m.begin(now)
	if c := m.consumers[s]; c != nil {
		c.autoCommit()
	}
}

// GiveBack is how a member of a log's group begins to leave: it ends its claims and reads no
// more, and is a member until Leave.
func (m *Machine) GiveBack(now time.Duration, s Session) {
	m.begin(now)
	if c, ok := m.consumers[s].(*logConsumer); ok && c.group != nil {
		c.giveBack()
	}
}

// Joining tells whether a consumer waits for a rebalance of its group: what it asks the
// coordinator meanwhile is answered after that, on the same connection. It is woken then.
func (m *Machine) Joining(now time.Duration, s Session) bool {
	m.begin(now)
	c, ok := m.consumers[s].(*logConsumer)
	return ok && c.member != nil && c.member.joined
}

// KeepsBeat tells whether the client of a consumer keeps its heartbeats back until it has the
// generation that it joins, where its session goes on over that. It is woken then, and sends the
// one that is due.
func (m *Machine) KeepsBeat(now time.Duration, s Session) bool {
	m.begin(now)
	c, ok := m.consumers[s].(*logConsumer)
	return ok && c.cooperative() && c.member != nil && (c.releasing.armed() || c.member.joined || c.member.answer.armed())
}

// Leave ends a consumer politely.
func (m *Machine) Leave(now time.Duration, s Session) { m.end(now, s, consumer.leave) }

// Vanish ends a consumer as a crash of its client does.
func (m *Machine) Vanish(now time.Duration, s Session) { m.end(now, s, consumer.vanish) }

func (m *Machine) end(now time.Duration, s Session, how func(consumer)) {
	m.begin(now)
	if c := m.consumers[s]; c != nil {
		m.consumers[s] = nil
		how(c)
	}
}

func (m *Machine) can(c contract.Capability) bool { return m.rules.Can.Has(c) }

var errNoVerb = errors.New("settlement without a verb")

// unsettleable is the answer to a verb that the model does not know.
func unsettleable(s *broker.Settlement) error {
	if s.Verb == broker.NoVerb {
		return &broker.Error{Op: s.Verb.String(), Answer: contract.Refused, Class: contract.Rejected, Err: errNoVerb}
	}
	return unsupported(s.Verb.String())
}

// HeartbeatInterval is how often the client of a consumer shows life; 0 is never.
func (m *Machine) HeartbeatInterval(spec broker.ConsumerSpec) time.Duration {
	session := max(spec.Session, m.rules.Session.Floor)
	switch {
	case m.rules.Model == contract.PushQueue:
		return session / 2
	case m.rules.Model == contract.Log && spec.Group != "":
		return min(m.rules.heartbeat, session/3)
	default:
		return 0
	}
}
