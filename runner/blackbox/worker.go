// SPDX-License-Identifier: Apache-2.0

package blackbox

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/seed-720a3c77/harness/runner/record"
)

// ErrProgram: the program failed the run: it could not be started or ended by itself.
var ErrProgram = errors.New("the program failed")

func workerName(n int) string {
	if n == everybody {
		return program
	}
	return program + "/" + strconv.Itoa(n)
}

// worker is one of the program's processes, started again after a kill or a stop.
type worker struct {
	run    *run
	number int
	task   *record.Task

	mu      sync.Mutex // guards what follows; never held across a wait
	process *process
	session uint32
	began   time.Duration
	// asked: its end is no surprise.
	asked bool
	// taken by a fault that is not over.
	taken bool
}

// take is true for one at a time, until release.
func (w *worker) take() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.taken {
		return false
	}
	w.taken = true
	return true
}

func (w *worker) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.taken = false
}

func (w *worker) name() string { return workerName(w.number) }

// start begins a life of the worker.
func (w *worker) start(ctx context.Context) error {
	r := w.run
	if err := ctx.Err(); err != nil {
		return err
	}
	process, err := launch(r.around.arguments(w.number), r.around.environment(w.number), r.lines(w.number))
	if err != nil {
		return fmt.Errorf("%w: start %s: %w", ErrProgram, w.name(), err)
	}
	release, err := r.guard(process)
	if err != nil {
		process.end()
		return fmt.Errorf("start %s: %w", w.name(), err)
	}
	session := w.task.Program(w.name(), r.plan.Group, r.plan.Destination)
	w.task.Worker(w.name(), false, false)
	w.mu.Lock()
	w.process, w.session, w.began, w.asked = process, session, r.Clock.Now(), false
	w.mu.Unlock()
	r.tally.of(w.number, session)
	r.Clock.Go(ctx, w.name(), func(ctx context.Context) { w.watch(ctx, process, release) })
	return nil
}

// watch waits for the end of a life, and fails the run if nobody asked for it.
func (w *worker) watch(ctx context.Context, p *process, release func()) {
	defer release()
	r := w.run
	_ = r.Clock.Foreign(ctx, func() error {
		<-p.ended // whatever ends the run ends the process
		p.quiet()
		return nil
	})
	if ctx.Err() != nil || w.isAsked(p) {
		return
	}
	now := r.Clock.Now()
	w.ended(true, "ended by itself "+p.how())
	r.fail(fmt.Errorf("%w: %s ended by itself %s after its start, at %s, %s; %s", ErrProgram, w.name(),
		(now - w.began).Round(time.Millisecond), now.Round(time.Millisecond), p.how(), p.output.last(errorTail)))
}

// observePatience bounds how long a signal may take to be seen at work.
const observePatience = 10 * time.Second

// errorTail is how much of a worker's output an error shows.
const errorTail = 600

func (w *worker) isAsked(p *process) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked || w.process != p
}

// ask marks the coming end as asked for and returns the life, nil for none.
func (w *worker) ask() *process {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = true
	return w.process
}

// ended records the end of a life.
func (w *worker) ended(crashed bool, why string) {
	w.mu.Lock()
	session, lived := w.session, w.process != nil
	w.process = nil
	w.mu.Unlock()
	if !lived {
		return
	}
	w.task.ProgramEnd(session, crashed, why)
	w.task.Worker(w.name(), true, crashed)
}

// alive tells whether it has a process.
func (w *worker) alive() *process {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.process
}

// foreign calls what blocks outside of the clock.
func (w *worker) foreign(ctx context.Context, do func(context.Context) error) error {
	return w.run.Clock.Foreign(ctx, func() error { return do(ctx) })
}

// kill ends it without a word to anybody. Its end is recorded while it stands still, and
// before the broker can see that it is gone.
func (w *worker) kill(ctx context.Context) error {
	p := w.ask()
	if p == nil {
		return errEnded
	}
	return w.foreign(ctx, func(ctx context.Context) error {
		return p.kill(ctx, func() { w.ended(true, "") })
	})
}

// leave asks it to go, and ends it if it does not within the grace. It tells whether it
// went by itself.
func (w *worker) leave(ctx context.Context) bool {
	p := w.ask()
	if p == nil {
		return true
	}
	polite := false
	_ = w.foreign(ctx, func(ctx context.Context) error {
		p.ask()
		if polite = p.gone(ctx, w.run.plan.Grace); !polite {
			p.end()
			p.gone(ctx, observePatience)
		}
		p.quiet()
		return nil
	})
	if polite {
		w.ended(false, "left")
		return true
	}
	w.ended(true, fmt.Sprintf("killed: it was there %s after it had been asked to leave", w.run.plan.Grace))
	return false
}
