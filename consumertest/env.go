// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
)

// Env is what a handler's constructor is given. A scenario makes a new handler after each
// crash, with an Env of the same world: what is outside of the handler survives. Each
// scenario has a world of its own, and scenarios may run in parallel.
type Env struct {
	// Effects is a store in memory that survives crashes.
	Effects *Effects

	process *process
	world   *world
}

// Worker names the worker that the handler runs in: "worker-1".
func (e Env) Worker() string { return e.process.name }

// Operate runs do as one operation on a store of your own: a schedule may hold, fail or
// crash the handler before and after it. Text is what a story says that it does. The
// error is that of do, the context's, or ErrInjected.
func (e Env) Operate(ctx context.Context, text string, do func() error) error {
	return e.process.operate(ctx, &operation{text: text, kind: opWrite}, do)
}

// Dir is an empty directory of the scenario, which is removed when it ends.
func (e Env) Dir() string {
	e.world.mu.Lock()
	defer e.world.mu.Unlock()
	if e.world.dir == "" {
		dir, err := os.MkdirTemp("", "consumertest-")
		if err != nil {
			panic(fmt.Errorf("consumertest: directory of the scenario: %w", err))
		}
		e.world.dir = dir
	}
	return e.world.dir
}

// Cleanup calls fn when the scenario has ended and is judged, the last one first.
func (e Env) Cleanup(fn func()) {
	e.world.mu.Lock()
	defer e.world.mu.Unlock()
	e.world.cleanups = append(e.world.cleanups, fn)
}

// Survivor returns the value that a scenario keeps under a name, made by the first call:
// a store of your own that outlives the handler's crashes.
func Survivor[T any](e Env, name string, make func() T) T {
	if kept, ok := e.world.survivor(name).(T); ok {
		return kept
	}
	return e.world.keep(name, make()).(T)
}

// world is what outlives a crash.
type world struct {
	effects *effectStore
	http    *httpRecorder

	mu        sync.Mutex // never held across a wait
	survivors map[string]any
	cleanups  []func()
	dir       string
	// database is how an observer connects to what the handler opened.
	database *sqlConnector
}

func newWorld(c *config) *world {
	return &world{
		effects: newEffectStore(), http: newHTTPRecorder(c), survivors: map[string]any{},
	}
}

func (w *world) survivor(name string) any {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.survivors[name]
}

// keep stores a value unless another one was first.
func (w *world) keep(name string, made any) any {
	w.mu.Lock()
	defer w.mu.Unlock()
	if kept, ok := w.survivors[name]; ok {
		return kept
	}
	w.survivors[name] = made
	return made
}

// end undoes what the handlers of a scenario left.
func (w *world) end() {
	w.mu.Lock()
	cleanups, dir := w.cleanups, w.dir
	w.mu.Unlock()
	for _, fn := range slices.Backward(cleanups) {
		fn()
	}
	if dir != "" {
		_ = os.RemoveAll(dir)
	}
}

// env is what a process sees of its world.
func (p *process) env() Env {
	w := p.scene.world
	return Env{Effects: &Effects{store: w.effects, from: p}, process: p, world: w}
}

// construct makes a process's handler. A panic of the constructor is an error.
func (s *scene) construct(p *process) error {
	return guarded("the constructor of the handler", func() error {
		p.handle = s.config.newHandler(p.env())
		return nil
	})
}
