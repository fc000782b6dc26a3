// SPDX-License-Identifier: Apache-2.0

package blackbox

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seed-720a3c77/harness/runner/record"
	"github.com/seed-720a3c77/harness/runner/spawn"
)

// ErrProgram: the program failed the run: it could not be started or ended by itself.
var ErrProgram = errors.New("the program failed")

// WorkerName is how a worker is called in histories, and its link.
func WorkerName(n int) string {
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
	process *spawn.Process
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

func (w *worker) name() string { return WorkerName(w.number) }

// start begins a life of the worker.
func (w *worker) start(ctx context.Context) error {
	r := w.run
	if err := ctx.Err(); err != nil {
		return err
	}
	process, err := spawn.Program{
		Args: r.around.arguments(w.number), Env: r.around.environment(w.number), Lines: r.lines(w.number), Guard: r.Guard,
	}.Start()
	if err != nil {
		return fmt.Errorf("%w: start %s: %w", ErrProgram, w.name(), err)
	}
	session := w.task.Program(w.name(), r.plan.Group, r.plan.Destination)
	w.task.Worker(w.name(), false, false)
	w.mu.Lock()
	w.process, w.session, w.began, w.asked = process, session, r.Clock.Now(), false
	w.mu.Unlock()
	r.tally.of(w.number, session)
	// The life outlasts the fault or the watch that began it.
	r.Clock.Go(r.work, w.name(), func(ctx context.Context) { w.watch(ctx, process) })
	return nil
}

// watch waits for the end of a life, and fails the run if nobody asked for it.
func (w *worker) watch(ctx context.Context, p *spawn.Process) {
	r := w.run
	_ = r.Clock.Foreign(ctx, func() error {
		<-p.Ended() // whatever ends the run ends the process
		p.Quiet()
		return nil
	})
	if ctx.Err() != nil || w.isAsked(p) {
		return
	}
	now := r.Clock.Now()
	w.ended(true, "ended by itself with "+p.How())
	how := fmt.Sprintf("%s ended by itself %s after its start, at %s, with %s; %s", w.name(),
		(now - w.began).Round(time.Millisecond), now.Round(time.Millisecond), p.How(), w.said(p))
	if int(r.restarts.Add(1)) > r.plan.Restarts {
		r.fail(fmt.Errorf("%w: %s", ErrProgram, how))
		return
	}
	r.note("%s; started again", how)
	if r.Clock.Sleep(ctx, r.plan.RestartAfter) != nil {
		return
	}
	if err := w.start(ctx); err != nil && ctx.Err() == nil {
		r.fail(err)
	}
}

// said is the last that a worker wrote, for an error.
func (w *worker) said(p *spawn.Process) string {
	const most = 600
	text := w.run.around.hide(p.Said(most), w.number)
	switch {
	case text == "":
		return "it said nothing"
	case strings.HasPrefix(text, "..."):
		return "it said last: " + text
	}
	return "it said: " + text
}

func (w *worker) isAsked(p *spawn.Process) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked || w.process != p
}

// ask marks the coming end as asked for and returns the life, nil for none.
func (w *worker) ask() *spawn.Process {
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
func (w *worker) alive() *spawn.Process {
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
		return spawn.ErrEnded
	}
	return w.foreign(ctx, func(ctx context.Context) error {
		return p.Kill(ctx, func() { w.ended(true, "") })
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
		p.Ask()
		if polite = p.Gone(ctx, w.run.plan.Grace); !polite {
			p.End()
			p.Gone(ctx, spawn.Patience)
		}
		p.Quiet()
		return nil
	})
	if polite {
		w.ended(false, "left")
		return true
	}
	w.ended(true, fmt.Sprintf("killed: it was there %s after it had been asked to leave", w.run.plan.Grace))
	return false
}
