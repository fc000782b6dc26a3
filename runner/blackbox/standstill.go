// SPDX-License-Identifier: Apache-2.0

package blackbox

import (
	"context"
	"time"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/runner/spawn"
)

// A fault that strikes a program with nothing in hand shows nothing, and what it has in
// hand changes from one millisecond to the next. So everything is made to stand still
// before a crash or a freeze: then broker and store can be asked, and the answer is true
// of the instant at which the fault strikes.

// grip is a hold on workers: on those that a fault strikes and, while all stand still, on
// the others.
type grip struct {
	run            *run
	struck, others []*worker
	still          []standing
	hand           hand
}

// standing is a worker that was frozen.
type standing struct {
	worker  *worker
	process *spawn.Process
	struck  bool
}

// grasp takes the workers that a fault strikes. While another fault is at the one that was
// drawn, any other will do for a random crash: the work might run out. nil is nobody.
func (r *run) grasp(one strike) *grip {
	if g := r.takeAll(r.targets(one)); g != nil {
		return g
	}
	if !one.random || !one.crashes() || one.worker == everybody {
		return nil
	}
	for n, w := range r.workers {
		if w.alive() == nil {
			continue
		}
		if g := r.takeAll(r.workers[n : n+1]); g != nil {
			return g
		}
	}
	return nil
}

func (r *run) takeAll(all []*worker) *grip {
	g := &grip{run: r}
	for _, w := range all {
		if !w.take() {
			g.release()
			return nil
		}
		g.struck = append(g.struck, w)
	}
	return g
}

// target is how a history calls what was struck.
func (g *grip) target(one strike) string {
	if one.worker == everybody {
		return program
	}
	return g.struck[0].name()
}

// targets are the workers that a fault is meant for.
func (r *run) targets(one strike) []*worker {
	if one.worker == everybody {
		return r.workers
	}
	return r.workers[one.worker : one.worker+1]
}

// showsHand tells whether it can be seen what a fault of this kind meets. A program that
// is asked for its effects itself must not stand still.
func (r *run) showsHand(one strike) bool {
	_, asked := r.Source.(*Poll)
	return one.crashes() && r.plan.Look > 0 && !asked
}

// tryOut tells whether the fault may strike now; else nobody is held any more. What it
// crashes stands still then.
func (g *grip) tryOut(ctx context.Context, one strike, trial int, tired bool) bool {
	r := g.run
	if !r.showsHand(one) {
		return true
	}
	g.stop(ctx)
	_, done := r.tally.seen()
	last := r.plan.Messages-done <= r.plan.Messages/10
	if tired || g.hand.worth(trial, last) {
		return true
	}
	g.letGo(ctx)
	return false
}

// stop makes all workers stand still, but for those that another fault is at, and looks
// at what they have in hand.
func (g *grip) stop(ctx context.Context) {
	for _, w := range g.run.workers {
		if w.take() {
			g.others = append(g.others, w)
		}
	}
	for _, w := range g.struck {
		g.freeze(ctx, w, true)
	}
	for _, w := range g.others {
		g.freeze(ctx, w, false)
	}
	g.hand = g.run.inHand(ctx)
}

func (g *grip) freeze(ctx context.Context, w *worker, struck bool) {
	if p := w.alive(); p != nil && w.foreign(ctx, p.Freeze) == nil {
		g.still = append(g.still, standing{w, p, struck})
	}
}

// spare lets those go on that the fault did not strike.
func (g *grip) spare(ctx context.Context) {
	g.thaw(ctx, false)
	for _, w := range g.others {
		w.release()
	}
	g.others, g.still = nil, nil
}

// letGo ends a standstill in which nothing struck.
func (g *grip) letGo(ctx context.Context) {
	g.thaw(ctx, true)
	g.spare(ctx)
	g.release()
}

// thaw works also when the run is over.
func (g *grip) thaw(ctx context.Context, struck bool) {
	ctx = context.WithoutCancel(ctx)
	for _, s := range g.still {
		if s.struck == struck {
			_ = s.worker.foreign(ctx, s.process.Thaw) // one that has ended tells so itself
		}
	}
}

// release lets others strike the workers.
func (g *grip) release() {
	for _, w := range g.struck {
		w.release()
	}
	g.struck = nil
}

// standPatience bounds how long broker and store may take to answer while all stand still:
// a lease or a session must not run out in the meantime.
const standPatience = time.Second

// inHand asks broker and store.
func (r *run) inHand(ctx context.Context) hand {
	ctx, cancel := r.Clock.WithTimeout(ctx, standPatience)
	defer cancel()
	now := r.Clock.Now()
	d, err := r.depth(ctx)
	if err != nil || r.lookOnce(ctx) != nil {
		return hand{}
	}
	switch {
	case r.plan.Profile.Model == contract.Log:
		return r.shelf.onLog(d.Positions, r.tally.done, now)
	case r.plan.Profile.Model == contract.PushQueue && r.plan.DeadLetter != "":
		return hand{} // what is neither done nor ready may be there
	}
	return r.shelf.onQueue(&d, r.plan.Profile.Model == contract.LeaseQueue, r.tally.done, now)
}
