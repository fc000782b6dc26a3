// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/inmem/drive"
	"github.com/seed-720a3c77/harness/runner"
)

// given is what a run showed of everything that is not the broker's: its load, its faults,
// and how late network and host were. A model that repeats it answers for the broker alone.
type given struct {
	runner.Measured
	// scale is that of the run's durations.
	scale float64
	// spells tell how much longer than asked for the waits of a client take, late in all.
	spells spells
	late   spread
	// took is how long the answer to each publish took, by producer and sequence number; 0 is
	// unknown. The others are of all answers, of which half is each way.
	took                     [][]time.Duration
	publish, settle, receive spread
	// release, rebalance, answer, claim and added are what takes time in a rebalance; see
	// rebalances. beat is that of a heartbeat, which waits as a commit does on its connection.
	release, rebalance, answer, claim, added, beat spread
}

// spread is a measured distribution, by its twentieths. low and high are its middle, from the
// 5th to the 90th percentile.
type spread struct {
	low, high  time.Duration
	twentieths [21]time.Duration
}

func (s spread) String() string {
	return fmt.Sprintf("%s to %s, at most %s", s.low.Round(10*time.Microsecond), s.high.Round(10*time.Microsecond), s.most().Round(10*time.Microsecond))
}

func (s spread) most() time.Duration { return s.twentieths[len(s.twentieths)-1] }

// way is half of what request and answer took.
func (s spread) way() drive.Latency { return s.part(2) }

// whole is all of it.
func (s spread) whole() drive.Latency { return s.part(1) }

func (s spread) part(of time.Duration) drive.Latency {
	if s.high == 0 {
		return drive.Latency{}
	}
	l := drive.Latency{Quantiles: make([]time.Duration, len(s.twentieths))}
	for i, q := range s.twentieths {
		l.Quantiles[i] = q / of
	}
	return l
}

// spreadOf is that of samples in any order.
func spreadOf(samples []time.Duration) spread {
	all := slices.Sorted(slices.Values(samples))
	if len(all) == 0 {
		return spread{}
	}
	s := spread{low: all[len(all)*5/100], high: all[len(all)*90/100]}
	for i := range s.twentieths {
		s.twentieths[i] = all[(len(all)-1)*i/(len(s.twentieths)-1)]
	}
	return s
}

// measuring reads a run's history once.
type measuring struct {
	run    *history.Run
	load   time.Duration // when the load began
	joined time.Duration // when a partition was last assigned before it
	sent   [][]int64
	took   [][]time.Duration
	faults []runner.MeasuredFault
	struck []strike // by fault
	// received is when each worker last received something, by its session.
	received              map[uint32]int64
	publish, settle, poll []time.Duration
	work                  lateness
	rebalances            rebalances
	takes                 map[string]time.Duration // of a handler, by group
	cooperative           bool
}

var measuredKinds = history.Only(history.Phase, history.Assign, history.Revoke, history.SessionOpen, history.SessionClose, history.PublishStart, history.PublishAnswer, history.Receive, history.HandlerEnd,
	history.SettleAnswer, history.FaultRequested, history.FaultHealed)

// measure takes the conditions of a run from its history.
func measure(run *history.Run, takes map[string]time.Duration, cooperative bool) (given, error) {
	h := &run.Header
	m := measuring{run: run, cooperative: cooperative, load: runner.Never, received: map[uint32]int64{}, takes: takes, rebalances: newRebalances(),
		sent: make([][]int64, len(h.Producers)), took: make([][]time.Duration, len(h.Producers)), faults: make([]runner.MeasuredFault, len(h.Faults)), struck: make([]strike, len(h.Faults))}
	for i := range m.faults {
		m.faults[i] = runner.MeasuredFault{Requested: runner.Never, Healed: runner.Never}
	}
	if err := run.Each(measuredKinds, m.observe); err != nil {
		return given{}, err
	}
	if m.load == runner.Never {
		return given{}, fmt.Errorf("the history of %s has no load", h.Run)
	}
	return m.given(), nil
}

func (m *measuring) observe(e *history.Event) {
	switch e.Kind {
	case history.Phase:
		if m.run.Name(history.Texts, e.Text) == "load" {
			m.load = time.Duration(e.T)
		}
	case history.Assign:
		if m.load == runner.Never {
			m.joined = time.Duration(e.T)
		}
		m.rebalances.observe(m.groupOf(e), e)
	case history.Revoke, history.SessionOpen, history.SessionClose:
		m.rebalances.observe(m.groupOf(e), e)
	case history.PublishStart:
		if e.Attempt == 1 && int(e.Producer) < len(m.sent) && int(e.Seq) == len(m.sent[e.Producer]) {
			m.sent[e.Producer] = append(m.sent[e.Producer], e.T)
			m.took[e.Producer] = append(m.took[e.Producer], 0)
		}
	case history.PublishAnswer:
		m.answered(&m.publish, e)
		if e.Attempt == 1 && int(e.Producer) < len(m.sent) && e.Seq < uint64(len(m.took[e.Producer])) {
			m.took[e.Producer][e.Seq] = time.Duration(e.D)
		}
	case history.SettleAnswer:
		m.answered(&m.settle, e)
	case history.Receive:
		if e.N > 0 {
			m.received[e.Session] = e.T
			m.sample(&m.poll, e)
		}
	case history.HandlerEnd:
		if takes := m.takes[m.groupOf(e)]; !e.Has(history.Failed) && takes > 0 {
			if !m.interrupted(e) {
				m.work.add(e.T, max(0, time.Duration(e.D)-takes))
			}
		}
	case history.FaultRequested, history.FaultHealed:
		m.fault(e)
	}
}

func (m *measuring) groupOf(e *history.Event) string {
	group, _, _ := strings.Cut(m.run.Name(history.Sessions, e.Session), "/")
	return group
}

func (m *measuring) answered(all *[]time.Duration, e *history.Event) {
	if e.Class == contract.OK || e.Class == contract.AcceptedOnly {
		m.sample(all, e)
	}
}

// sample adds what a call took, unless a fault of its own worker came or went meanwhile: that
// tells of the fault, which the model repeats itself. A frozen worker reads an answer when it
// thaws.
func (m *measuring) sample(all *[]time.Duration, e *history.Event) {
	if !m.interrupted(e) {
		*all = append(*all, time.Duration(e.D))
	}
}

func (m *measuring) interrupted(e *history.Event) bool {
	session := m.run.Name(history.Sessions, e.Session)
	return slices.ContainsFunc(m.struck, func(s strike) bool { return s.at >= e.T-e.D && s.hits(session) })
}

// strike is when a fault was last requested or healed, and what it was aimed at.
type strike struct {
	target string
	at     int64
}

// hits tells whether a session is of the worker or group that is aimed at.
func (s strike) hits(session string) bool {
	rest, of := strings.CutPrefix(session, s.target)
	return of && rest != "" && (rest[0] == '-' || rest[0] == '/')
}

func (m *measuring) fault(e *history.Event) {
	if e.Op < 1 || int(e.Op) > len(m.faults) {
		return
	}
	f, s := &m.faults[e.Op-1], &m.struck[e.Op-1]
	s.at = e.T
	if e.Kind == history.FaultHealed {
		f.Healed = time.Duration(e.T)
		return
	}
	f.Requested, f.Since = time.Duration(e.T), 0
	_, s.target, _ = strings.Cut(m.run.Name(history.Texts, e.Text), " ")
	for session, at := range m.received {
		if s.hits(m.run.Name(history.Sessions, session)) {
			f.Since = max(f.Since, time.Duration(at))
		}
	}
}

// given has every time counted from the load.
func (m *measuring) given() given {
	g := given{scale: m.run.Header.Scale, took: m.took, publish: spreadOf(m.publish), settle: spreadOf(m.settle)}
	g.receive = g.publish
	if m.run.Header.Profile.Settle != contract.OK {
		g.settle = g.publish // a settle that is only written tells no time
	}
	if m.run.Header.Profile.Model == contract.LeaseQueue {
		g.receive = shorterHalf(m.poll)
	}
	if m.run.Header.Profile.Model == contract.Log {
		m.grouped(&g)
	}
	g.spells, g.late = m.work.spells, spreadOf(m.work.all())
	if m.joined > 0 {
		g.Settled = max(0, m.load-m.joined)
	}
	for _, sent := range m.sent {
		at := make([]time.Duration, len(sent))
		for i, t := range sent {
			at[i] = max(0, time.Duration(t)-m.load)
		}
		g.Sent = append(g.Sent, at)
	}
	for _, f := range m.faults {
		for _, at := range []*time.Duration{&f.Requested, &f.Healed, &f.Since} {
			if *at > 0 {
				*at = max(0, *at-m.load)
			}
		}
		g.Faults = append(g.Faults, f)
	}
	return g
}

// grouped are the conditions of a log's groups. Of a cooperative session, which goes on over its
// generations, the history tells only how long its commits take. While it reads, any request
// waits behind its fetch as they do: a join, and the four of each partition that is added, for
// metadata, position, end and start. A join that is kept has the fetch behind it, which has
// something by then, so that the two requests after it, for metadata and assignment, meet a free
// connection, as a publish does; and so do the four of a session that reads nothing yet.
func (m *measuring) grouped(g *given) {
	r := &m.rebalances
	r.done()
	g.beat = g.settle
	if !m.cooperative {
		g.release, g.rebalance, g.answer, g.claim = spreadOf(r.release), spreadOf(r.rebalance), spreadOf(r.answer), spreadOf(r.claim)
		return
	}
	g.release, g.added = g.settle, spreadOf(togetherOf(m.settle, 4))
	g.rebalance, g.claim = spreadOf(togetherOf(m.publish, 2)), spreadOf(togetherOf(m.publish, 4))
}

// shorterHalf of receives: the longer ones waited for messages. Only a lease queue is asked
// for them; elsewhere they come as the answers to publishes do.
func shorterHalf(polls []time.Duration) spread {
	slices.Sort(polls)
	return spreadOf(polls[:len(polls)/2])
}

// way is that of one publish: it is stored at some time between its start and its own answer,
// for those of one time are late together.
func (g *given) way(a drive.Attempt) drive.Latency {
	if int(a.ID.Producer) >= len(g.took) || a.ID.Seq >= uint64(len(g.took[a.ID.Producer])) || a.Number > 1 {
		return g.publish.way()
	}
	took := g.took[a.ID.Producer][a.ID.Seq]
	if took <= 0 {
		return g.publish.way()
	}
	return drive.Latency{Base: took / 10, Jitter: took * 4 / 5}
}
