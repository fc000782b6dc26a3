// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"context"
	"sync"
)

// Env is what a handler's constructor is given. A scenario makes a new handler after each
// crash, with an Env of the same world: what is outside of the handler survives.
type Env struct {
	// Effects is a store in memory that survives crashes.
	Effects *Effects

	process *process
	world   *world
}

// Worker names the worker that the handler runs in: "worker-1".
func (e Env) Worker() string { return e.process.name }

// Operate runs do as one operation on a store of your own: the schedule may hold, fail or
// crash the handler before and after it. Text is what the story says that it does.
func (e Env) Operate(ctx context.Context, text string, do func() error) error {
	return e.process.operate(ctx, &operation{text: text}, do)
}

// Survivor returns the value that a scenario keeps under a name, made by the first call:
// a store of your own that outlives the handler's crashes.
func Survivor[T any](e Env, name string, make func() T) T {
	e.world.mu.Lock()
	defer e.world.mu.Unlock()
	if kept, ok := e.world.survivors[name].(T); ok {
		return kept
	}
	made := make()
	e.world.survivors[name] = made
	return made
}

// world is what outlives a crash.
type world struct {
	effects *effectStore

	mu        sync.Mutex
	survivors map[string]any
}

func newWorld(*config) *world {
	return &world{effects: newEffectStore(), survivors: map[string]any{}}
}

// start runs user code on a goroutine of its own.
func (w *world) start(fn func()) { go fn() }

// env is what a process sees of its world.
func (p *process) env() Env {
	w := p.scene.world
	return Env{Effects: &Effects{store: w.effects, from: p}, process: p, world: w}
}

// construct makes a process's handler. A panic of the constructor is an error.
func (s *scene) construct(p *process) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = panicError("the constructor of the handler panics", value)
		}
	}()
	p.handle = s.config.newHandler(p.env())
	return nil
}
