// SPDX-License-Identifier: Apache-2.0

package blackbox

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// look looks at the effects from time to time. What cannot be read now may be later: the
// program makes its tables itself. Garbage stays garbage.
func (r *run) look(ctx context.Context) {
	if r.plan.Look == 0 {
		return
	}
	r.Clock.Go(ctx, "effects", func(ctx context.Context) {
		for r.Clock.Sleep(ctx, r.plan.Look) == nil && mayPass(r.lookOnce(ctx)) {
		}
	})
}

// mayPass tells whether another look may find more than this one.
func mayPass(err error) bool { return err == nil || errors.Is(err, ErrEffects) }

// errLooking: somebody else looks. Two at a time would overtake each other.
var errLooking = fmt.Errorf("%w: they are being looked at", ErrEffects)

// lookOnce looks now. What may not pass fails the run.
func (r *run) lookOnce(ctx context.Context) error {
	if !r.beginLook() {
		return errLooking
	}
	defer r.endLook()
	err := r.Clock.Foreign(ctx, func() error { return r.Source.Look(ctx, r.tally) })
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r.mu.Lock()
	r.looked = err
	r.mu.Unlock()
	if !mayPass(err) {
		r.fail(err)
	}
	return err
}

func (r *run) beginLook() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.looking {
		return false
	}
	r.looking = true
	return true
}

func (r *run) endLook() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.looking = false
}

func (r *run) lookError() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.looked
}

// The last look is tried for a while: the store may be busy, or locked for ever.
const (
	lastLookFor   = 10 * time.Second
	lastLookEvery = 250 * time.Millisecond
	// longestLook bounds one of them.
	longestLook = time.Minute
)

// lastLook looks when nobody is at work any more. It must succeed.
func (r *run) lastLook(ctx context.Context) {
	for until := r.Clock.Now() + lastLookFor; ; {
		err := r.boundLook(ctx, longestLook)
		switch {
		case err == nil || !mayPass(err):
			return
		case r.Clock.Now() > until || r.Clock.Sleep(ctx, lastLookEvery) != nil:
			r.fail(err)
			return
		}
	}
}

// boundLook is a look that does not take for ever.
func (r *run) boundLook(ctx context.Context, longest time.Duration) error {
	bound, cancel := r.Clock.WithTimeout(ctx, longest)
	defer cancel()
	err := r.lookOnce(bound)
	if bound.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("%w: no answer within %s", ErrEffects, longest)
	}
	return err
}
