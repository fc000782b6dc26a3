// SPDX-License-Identifier: Apache-2.0

package blackbox

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
)

const (
	// lookEvery is how often warm-up and drain look.
	lookEvery = 100 * time.Millisecond
	// confirmations is how many looks in a row must find nothing left: what a dying
	// session gives back may be between two places at one look.
	confirmations = 3
)

// awaitWork publishes the first message and waits until the program does something with
// it: an effect, or the broker sees it taken. why says that it did not.
func (r *run) awaitWork(ctx context.Context, out *publisher) (why string) {
	if r.broken() != nil {
		return ""
	}
	if err := out.publish(ctx, r.Clock.Now()); err != nil {
		r.fail(err)
		return ""
	}
	began := r.Clock.Now()
	for gone := 0; r.broken() == nil && !r.stopped(); {
		if r.settledFirst(ctx) {
			gone++
		}
		if seen, _ := r.tally.seen(); seen > 0 || gone >= confirmations || r.taken() {
			return ""
		}
		if r.Clock.Now()-began > r.plan.Ready {
			return r.idle()
		}
		if r.Clock.Sleep(ctx, lookEvery) != nil {
			return "the run was cancelled"
		}
	}
	return ""
}

// idle names a program that does nothing.
func (r *run) idle() string {
	var running []string
	for _, w := range r.workers {
		if p := w.alive(); p != nil {
			running = append(running, w.name()+" runs, and "+w.said(p))
		}
	}
	text := fmt.Sprintf("the program took no message and had no effect within %s of its start; %s", r.plan.Ready, strings.Join(running, "; "))
	if err := r.lookError(); err != nil {
		text += "; " + err.Error()
	}
	return text
}

// settledFirst tells whether the broker has the first message no more: a quick program
// holds it for less time than passes between two samples.
func (r *run) settledFirst(ctx context.Context) bool {
	if r.acked.Load() == 0 {
		return false
	}
	d, err := r.depth(ctx)
	return err == nil && r.remaining(d) == 0
}

// taken tells whether the broker has given the first message to somebody.
func (r *run) taken() bool {
	d := r.latest.Load()
	switch {
	case d == nil:
		return false
	case r.plan.Profile.Model == contract.Log:
		return d.Committed > max(d.Start, 0)
	}
	return d.InFlight > 0
}

// remaining counts what the program has not settled.
func (r *run) remaining(d broker.Depth) int64 {
	if r.plan.Profile.Model == contract.Log {
		return max(d.End-max(d.Committed, d.Start), 0)
	}
	return max(d.Ready, 0) + max(d.InFlight, 0) + max(d.Delayed, 0)
}

// progress changes whenever anything got on.
type progress struct {
	effects   int
	remaining int64
	inFlight  int64
}

// drain waits until every fault is over and the broker has nothing left, for longer than
// its figures can be old. It returns "" then, or why it ended otherwise: nothing moved for
// longer than anything can be held.
func (r *run) drain(ctx context.Context) string {
	var moved progress
	since := r.Clock.Now()
	for empty := 0; r.broken() == nil; {
		d, err := r.depth(ctx)
		left := r.remaining(d)
		busy := r.storm != nil && !r.storm.over()
		seen, _ := r.tally.seen()
		if now := (progress{seen, left, d.InFlight}); now != moved || busy {
			moved, since, empty = now, r.Clock.Now(), 0
		}
		silent := r.Clock.Now() - since
		if err == nil && left == 0 && !busy {
			empty++
		}
		switch {
		case empty >= confirmations && silent >= r.age(d):
			return ""
		case silent > r.plan.Patience:
			return r.stuck(left, silent, err)
		}
		if r.Clock.Sleep(ctx, lookEvery) != nil {
			return "the run was cancelled"
		}
	}
	return ""
}

// blindPatience stands for the age of a figure that is not measured.
const blindPatience = 10 * time.Second

// age is how old a sample may be. What a push queue has handed out is not always counted,
// or not at once.
func (r *run) age(d broker.Depth) time.Duration {
	if r.plan.Profile.Model == contract.PushQueue && d.InFlight == broker.Unmeasured {
		return blindPatience
	}
	return d.Took
}

// stuck names a program that does not get on.
func (r *run) stuck(left int64, silent time.Duration, err error) string {
	text := fmt.Sprintf("nothing moved for %s, and %d messages are not settled", silent.Round(time.Second), left)
	if err != nil {
		text = fmt.Sprintf("the depth cannot be measured: %v", err)
	}
	for _, w := range r.workers {
		if p := w.alive(); p != nil {
			text += "; " + w.name() + " runs, and " + w.said(p)
		}
	}
	return text
}
