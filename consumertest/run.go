// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"context"
	"testing"
)

// Run drives a handler of single messages through hostile schedules and fails the test if
// an effect is lost or happens twice, or whatever else is claimed does not hold.
//
// newHandler makes the handler of one process. It is called at the start of each worker
// and again after each crash; what a handler remembers is gone then, and what it reaches
// through Env stays. It must not use state of the package: scenarios run in parallel.
//
// Each profile is a subtest, and each family of schedules one below it.
//
// A panic of the handler is a finding. What Go itself cannot survive ends the test binary
// here as well: a panic on a goroutine that the handler started, os.Exit, log.Fatal.
func Run(t *testing.T, newHandler func(Env) Handler, options ...Option) {
	t.Helper()
	c := newConfig(options)
	c.newHandler = one(newHandler)
	c.run(t)
}

// one is a handler of single messages as one of batches.
func one(newHandler func(Env) Handler) func(Env) BatchHandler {
	return func(e Env) BatchHandler {
		handle := newHandler(e)
		return func(ctx context.Context, batch []Message) []error {
			return []error{handle(ctx, batch[0])}
		}
	}
}

// RunBatch is Run for a handler of several messages at a time.
func RunBatch(t *testing.T, newHandler func(Env) BatchHandler, options ...Option) {
	t.Helper()
	c := newConfig(options)
	c.newHandler, c.batch = newHandler, 3
	c.run(t)
}

func (c *config) run(t *testing.T) {
	t.Helper()
	seeds, err := c.seeds()
	if err == nil {
		err = c.check()
	}
	if err != nil {
		t.Fatalf("consumertest: %v", err)
	}
	for _, p := range c.profiles {
		t.Run(string(p), func(t *testing.T) {
			t.Helper()
			r, err := p.rules(c.pace)
			if err != nil {
				t.Fatalf("consumertest: %v", err)
			}
			if !c.sequential {
				t.Parallel()
			}
			c.onProfile(t, &r, seeds)
		})
	}
}

func (c *config) onProfile(t *testing.T, r *rules, seeds []uint64) {
	t.Helper()
	x := newTrial(c, r)
	if found := x.fit(t); found != nil {
		t.Fatal(found.story(t.Name()))
	}
	told := map[pattern]string{}
	for _, f := range families() {
		t.Run(f.name, func(t *testing.T) {
			t.Helper()
			found := x.explore(t, f, seeds)
			if found == nil {
				return
			}
			if where, known := told[found.cause]; known {
				t.Error(found.again(t.Name(), where))
				return
			}
			told[found.cause] = f.name
			t.Error(found.story(t.Name()))
		})
	}
	t.Log(x.summary())
}
