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
	// late bounds how much longer than asked for a wait of a client takes.
	late time.Duration
	// took is how long the answer to each publish took, by producer and sequence number; 0 is
	// unknown. The others are of all answers, of which half is each way.
	took                     [][]time.Duration
	publish, settle, receive spread
	// release and rebalance are what takes time in a rebalance; see rebalances.
	release, rebalance spread
}

// spread is a measured distribution, by its twentieths. low and high are its middle, from the
// 5th to the 90th percentile.
type spread struct {
	low, high  time.Duration
	twentieths [21]time.Duration
}

func (s spread) String() string {
	most := s.twentieths[len(s.twentieths)-1]
	return fmt.Sprintf("%s to %s, at most %s", s.low.Round(10*time.Microsecond), s.high.Round(10*time.Microsecond), most.Round(10*time.Microsecond))
}

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

// spreadOf sorts the samples.
func spreadOf(all []time.Duration) spread {
	if len(all) == 0 {
		return spread{}
	}
	slices.Sort(all)
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
	received                    map[uint32]int64
	publish, settle, poll, work []time.Duration
	rebalances                  rebalances
	takes                       map[string]time.Duration // of a handler, by group
}

var measuredKinds = history.Only(history.Phase, history.Assign, history.Revoke, history.SessionOpen, history.SessionClose, history.PublishStart, history.PublishAnswer, history.Receive, history.HandlerEnd,
	history.SettleAnswer, history.FaultRequested, history.FaultHealed)

// measure takes the conditions of a run from its history.
func measure(run *history.Run, takes map[string]time.Duration) (given, error) {
	h := &run.Header
	m := measuring{run: run, load: runner.Never, received: map[uint32]int64{}, takes: takes, rebalances: newRebalances(),
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
			m.sample(&m.poll, e, 0)
		}
	case history.HandlerEnd:
		if takes := m.takes[m.groupOf(e)]; !e.Has(history.Failed) && takes > 0 {
			m.sample(&m.work, e, takes)
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
		m.sample(all, e, 0)
	}
}

// sample adds what a call took beyond what it was to take, unless a fault of its own worker
// came or went meanwhile: that tells of the fault, which the model repeats itself. A frozen
// worker reads an answer when it thaws.
func (m *measuring) sample(all *[]time.Duration, e *history.Event, beyond time.Duration) {
	session := m.run.Name(history.Sessions, e.Session)
	for _, s := range m.struck {
		if s.at >= e.T-e.D && s.hits(session) {
			return
		}
	}
	*all = append(*all, max(0, time.Duration(e.D)-beyond))
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
	g.release, g.rebalance = spreadOf(m.rebalances.release), spreadOf(m.rebalances.rebalance)
	g.receive = g.publish
	if m.run.Header.Profile.Settle != contract.OK {
		g.settle = g.publish // a settle that is only written tells no time
	}
	if m.run.Header.Profile.Model == contract.LeaseQueue {
		g.receive = shorterHalf(m.poll)
	}
	g.late = spreadOf(m.work).high
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
