// SPDX-License-Identifier: Apache-2.0

package drive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
)

// Begin implements broker.Producer. It takes no time: the broker hears of a transaction with
// its first record.
func (p *producer) Begin(ctx context.Context) error {
	return p.transact(ctx, "begin", func(now time.Duration) error {
		p.spoilt = nil
		return p.e.machine.Begin(now, p.session, p.next)
	})
}

// Commit implements broker.Producer. It waits for what is unanswered; after an answer that
// was not a success the client refuses it by itself.
func (p *producer) Commit(ctx context.Context, offsets ...broker.OffsetCommit) error {
	return p.finish(ctx, "commit", func(now time.Duration) error {
		if p.spoilt != nil {
			why := fmt.Errorf("a record of it was not stored: %w", p.spoilt)
			return &broker.Error{Op: "commit", Answer: contract.Refused, Class: contract.Rejected, Err: why}
		}
		return p.e.machine.Commit(now, p.session, offsets)
	})
}

// Abort implements broker.Producer.
func (p *producer) Abort(ctx context.Context) error {
	return p.finish(ctx, "abort", func(now time.Duration) error { return p.e.machine.Abort(now, p.session) })
}

// finish is a request that ends a transaction, and its answer.
func (p *producer) finish(ctx context.Context, op string, call func(time.Duration) error) error {
	if p.spec.TransactionID == "" {
		return p.transact(ctx, op, call)
	}
	if err := p.Flush(ctx); err != nil {
		return &broker.Error{Op: op, Answer: contract.Closed, Class: contract.Rejected, Err: err}
	}
	arrives, err := p.travel(ctx, upHeld, upDrops, true)
	if err != nil || !arrives {
		return p.unanswered(ctx, op, err)
	}
	answer := p.transact(ctx, op, call)
	if arrives, err = p.travel(ctx, downHeld, downDrops, false); err != nil || !arrives {
		return p.unanswered(ctx, op, err)
	}
	return answer
}

// travel takes the time of one way; false: what is on it is lost.
func (p *producer) travel(ctx context.Context, held, drops func(*breakage) bool, up bool) (bool, error) {
	arrives, err := p.e.through(ctx, p.spec.Name, held, drops)
	if err != nil || !arrives {
		return false, err
	}
	if d := p.delay(up); d > 0 {
		err = p.e.clk.Sleep(ctx, d)
	}
	return err == nil, err
}

func (p *producer) delay(up bool) time.Duration {
	p.e.mu.Lock()
	defer p.e.mu.Unlock()
	d := p.e.late(p.spec.Name, up)
	if p.link != nil && p.link.random != nil {
		d += p.e.opts.Publish.draw(p.link.random)
	}
	return d
}

// unanswered is how a request ends that nobody heard an answer to.
func (p *producer) unanswered(ctx context.Context, op string, why error) error {
	if why == nil {
		why = errors.Join(p.e.clk.Sleep(ctx, cmp.Or(p.spec.Timeout, defaultTimeout)), context.DeadlineExceeded)
	}
	return &broker.Error{Op: op, Answer: contract.Timeout, Class: contract.Unknown, Err: why}
}

// transact makes one call of the machine.
func (p *producer) transact(ctx context.Context, op string, call func(time.Duration) error) error {
	if err := p.e.enter(ctx); err != nil {
		return &broker.Error{Op: op, Answer: contract.Closed, Class: contract.Rejected, Err: err}
	}
	defer p.e.leave()
	if p.closed {
		return &broker.Error{Op: op, Answer: contract.Closed, Class: contract.Rejected, Err: broker.ErrClosed}
	}
	return call(p.e.clk.Now())
}
