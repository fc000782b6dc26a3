// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

// shares tells who did how much of the work: workers and partitions by what they handled,
// producers by what was acked to them.
type shares struct {
	c          *Case
	workers    map[string]*share
	partitions map[string]*share
	producers  map[uint32]*share
	// what a session, place or producer counts for, so that no name is looked up twice
	bySession, byPlace, byProducer []*share
}

// share is a count with the time from receive to the end of the handler.
type share struct {
	handled int64
	latency buckets
}

func (s *shares) Kinds() history.KindSet {
	return history.Only(history.HandlerEnd, history.PublishAnswer)
}

func (s *shares) Begin(c *Case) {
	s.c = c
	s.workers, s.partitions, s.producers = map[string]*share{}, map[string]*share{}, map[uint32]*share{}
}

func (s *shares) Observe(m *Moment) {
	if m.Kind == history.PublishAnswer {
		if m.Class == contract.OK && !m.forward {
			one := slot(&s.byProducer, min(m.id.Producer, maxProducers))
			named(one, s.producers, m.id.Producer).handled++
		}
		return
	}
	if m.hold == nil || m.Has(history.Failed) {
		return
	}
	took := m.T - m.hold.at
	named(slot(&s.bySession, m.session.ref), s.workers, m.session.worker).record(took)
	named(slot(&s.byPlace, m.place.ref), s.partitions, m.place.text).record(took)
}

// named finds a share by its name, the first time that one is empty.
func named[K comparable](one **share, all map[K]*share, name K) *share {
	if *one != nil {
		return *one
	}
	if all[name] == nil {
		all[name] = new(share)
	}
	*one = all[name]
	return *one
}

func (s *share) record(took int64) {
	s.handled++
	s.latency.record(took)
}

func (s *shares) Finish(f *Facts) {
	peaks := s.peaks()
	for _, name := range sortedKeys(s.workers) {
		w := s.workers[name]
		f.result.Shares = append(f.result.Shares, Share{"worker", name, w.handled, w.latency.quantile(0.99), peaks[name]})
	}
	for _, name := range sortedKeys(s.partitions) {
		p := s.partitions[name]
		f.result.Shares = append(f.result.Shares, Share{Of: "partition", Name: name, Handled: p.handled, P99Ns: p.latency.quantile(0.99)})
	}
	for _, n := range sortedKeys(s.producers) {
		name := "p" + number(int64(n))
		if p := s.c.producerOf(n); p != nil && p.Name != "" {
			name = p.Name
		}
		f.result.Shares = append(f.result.Shares, Share{Of: "producer", Name: name, Handled: s.producers[n].handled})
	}
}

// peaks is the most that each worker held at once.
func (s *shares) peaks() map[string]int64 {
	peaks := map[string]int64{}
	for _, one := range s.c.sessions {
		if one != nil {
			peaks[one.worker] = max(peaks[one.worker], one.peak)
		}
	}
	return peaks
}
