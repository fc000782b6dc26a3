// SPDX-License-Identifier: Apache-2.0

package blackbox

import (
	"context"
	"errors"

	"github.com/seed-720a3c77/harness/runner/spawn"
)

// inject makes a fault happen, sees that it did, and returns what heals it.
func (r *run) inject(ctx context.Context, struck []*worker, one strike) (heal func() error, err error) {
	again := func() error {
		if err := r.Clock.Sleep(ctx, r.plan.RestartAfter); err != nil || r.broken() != nil {
			return err
		}
		return startAll(ctx, struck)
	}
	w := struck[0]
	switch one.do {
	case doKill, doKillAll:
		return again, killAll(ctx, struck)
	case doStop:
		if !w.leave(ctx) {
			r.note("%s did not leave within %s of being asked and was killed", w.name(), r.plan.Grace)
		}
		return again, nil
	case doLose:
		return r.loseAnswers(ctx, w, one)
	}
	p := w.alive()
	if p == nil {
		return nil, spawn.ErrEnded
	}
	thaw := func() error {
		slept := r.Clock.Sleep(ctx, one.last)
		thawed := w.foreign(context.WithoutCancel(ctx), p.Thaw)
		if errors.Is(thawed, spawn.ErrEnded) {
			return slept // it tells of its end itself
		}
		return errors.Join(slept, thawed)
	}
	return thaw, w.foreign(ctx, p.Freeze)
}

func startAll(ctx context.Context, all []*worker) error {
	for _, w := range all {
		if err := w.start(ctx); err != nil {
			return err
		}
	}
	return nil
}

// killAll fails if it killed nobody.
func killAll(ctx context.Context, all []*worker) error {
	var failed error
	killed := false
	for _, w := range all {
		err := w.kill(ctx)
		killed = killed || err == nil
		if err != nil && !errors.Is(err, spawn.ErrEnded) {
			failed = err
		}
	}
	if failed == nil && !killed {
		return spawn.ErrEnded
	}
	return failed
}

// loseAnswers drops what the broker sends to a worker.
func (r *run) loseAnswers(ctx context.Context, w *worker, one strike) (heal func() error, err error) {
	link, err := r.Links(w.number)
	if err != nil {
		return nil, err
	}
	if !r.canHit(one) {
		return nil, spawn.ErrEnded
	}
	repair, err := link.Drop(ctx, "down")
	if err != nil {
		return nil, err
	}
	return func() error {
		slept := r.Clock.Sleep(ctx, one.last)
		return errors.Join(slept, repair(context.WithoutCancel(ctx)))
	}, nil
}

// canHit tells whether there are processes to strike, and an answer that one could miss.
func (r *run) canHit(one strike) bool {
	for _, w := range r.targets(one) {
		if w.alive() == nil {
			return false
		}
	}
	if one.do != doLose {
		return true
	}
	link, err := r.Links(one.worker)
	return err != nil || link.Open() > 0
}
