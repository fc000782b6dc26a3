// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"cmp"
	"context"
	"time"

	"github.com/seed-720a3c77/harness/broker"
)

// Settle implements broker.Consumer. Each entry can be hit by a rule of its own.
func (c *consumer) Settle(ctx context.Context, all []broker.Settlement, results []error) {
	if c.requests.watched.Load() == 0 {
		c.Consumer.Settle(ctx, all, results)
		return
	}
	s := settling{c: c, all: all, results: results, hits: make([]*Armed, len(all))}
	if !s.struck(ctx) {
		c.Consumer.Settle(ctx, all, results)
		return
	}
	s.request(ctx)
	s.send(ctx)
	s.answer(ctx)
}

// settling is a call of Settle of which some entries are hit.
type settling struct {
	c       *consumer
	all     []broker.Settlement
	results []error
	hits    []*Armed
}

// struck finds which entries are hit, and tells whether any is.
func (s *settling) struck(ctx context.Context) (any bool) {
	for i := range s.all {
		call := s.c.call(operationOf(s.all[i].Verb))
		call.ID, call.Entry = s.all[i].Token.Origin.ID, i+1
		if call.Operation == "" {
			continue
		}
		s.c.requests.tell(ctx, &call)
		s.hits[i] = s.c.requests.hit(&call, false)
		any = any || s.hits[i] != nil
	}
	return any
}

// each visits the entries that are hit.
func (s *settling) each(visit func(i int, hit *Armed)) {
	for i, hit := range s.hits {
		if hit != nil {
			visit(i, hit)
		}
	}
}

// request makes the call as late as its latest entry.
func (s *settling) request(ctx context.Context) {
	s.each(func(_ int, hit *Armed) { _ = hit.before(ctx) })
}

// send settles what is not lost.
func (s *settling) send(ctx context.Context) {
	var sent []broker.Settlement
	var at []int
	for i := range s.all {
		if s.hits[i] == nil || !s.hits[i].Action.Lost {
			sent, at = append(sent, s.all[i]), append(at, i)
		}
		if s.hits[i] != nil && s.hits[i].Action.Twice {
			sent, at = append(sent, s.all[i]), append(at, i)
		}
	}
	if len(sent) == 0 {
		return
	}
	results := make([]error, len(sent))
	s.c.Consumer.Settle(ctx, sent, results)
	for i, where := range at {
		s.results[where] = results[i]
	}
}

// answer replaces the answers that do not come, when it is known that they do not.
func (s *settling) answer(ctx context.Context) {
	var silence time.Duration
	answered, cut := 0, false
	s.each(func(i int, hit *Armed) {
		act, op := &hit.Action, operationOf(s.all[i].Verb)
		switch {
		case act.Told != nil:
			s.results[i] = act.Told
		case act.Most > 0:
			if answered++; answered > act.Most {
				s.results[i] = unanswered(op)
			}
		case act.Silent && s.c.requests.quiet:
			if s.results[i] = nil; !act.Lost { // nobody waits for an answer that never comes
				s.results[i], cut = cutOff(op), true
			}
		case act.Silent:
			s.results[i] = unanswered(op)
			silence = max(silence, cmp.Or(act.Timeout, answerTimeout))
		default:
			_ = hit.after(ctx)
		}
	})
	if cut {
		s.c.cut(ctx, "the answer of a settlement was lost")
	}
	if silence > 0 {
		_ = s.c.requests.clock.Sleep(ctx, silence)
	}
}
