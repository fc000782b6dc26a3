// SPDX-License-Identifier: Apache-2.0

package blackbox

import (
	"context"
	"errors"
	"time"
)

// look looks at the effects from time to time. What cannot be read now may be later: the
// program makes its tables itself. Garbage stays garbage.
func (r *run) look(ctx context.Context) {
	if r.plan.Look == 0 {
		return
	}
	r.Clock.Go(ctx, "effects", func(ctx context.Context) {
		for r.Clock.Sleep(ctx, r.plan.Look) == nil && r.lookOnce(ctx) {
		}
	})
}

func (r *run) lookOnce(ctx context.Context) (goOn bool) {
	err := r.Clock.Foreign(ctx, func() error { return r.Source.Look(ctx, r.tally) })
	if ctx.Err() != nil {
		return false
	}
	r.mu.Lock()
	r.looked = err
	r.mu.Unlock()
	if err == nil || errors.Is(err, ErrEffects) {
		return true
	}
	r.fail(err)
	return false
}

func (r *run) lookError() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.looked
}

// The last look is tried for a while: the store may be busy.
const (
	lastLookFor   = 10 * time.Second
	lastLookEvery = 250 * time.Millisecond
)

// lastLook looks when nobody is at work any more. It must succeed.
func (r *run) lastLook(ctx context.Context) {
	until := r.Clock.Now() + lastLookFor
	for {
		if !r.lookOnce(ctx) {
			return
		}
		err := r.lookError()
		if err == nil {
			return
		}
		if r.Clock.Now() > until || r.Clock.Sleep(ctx, lastLookEvery) != nil {
			r.fail(err)
			return
		}
	}
}
