// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"context"
	"testing"
)

// Run drives a handler of single messages through hostile schedules and fails the test if
// an effect is lost or happens twice, or whatever else is claimed does not hold.
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
	c.newHandler, c.batched = newHandler, true
	c.run(t)
}

func (c *config) run(t *testing.T) {
	t.Helper()
	for _, p := range c.profiles {
		t.Run(string(p), func(t *testing.T) {
			r, err := p.rules()
			if err != nil {
				t.Fatalf("consumertest: %v", err)
			}
			c.parallel(t)
			c.onProfile(t, &r)
		})
	}
}

func (c *config) parallel(t *testing.T) {
	if !c.serial {
		t.Parallel()
	}
}

func (c *config) onProfile(t *testing.T, r *rules) {
	trial := &trial{config: c, rules: r}
	if found := trial.fit(t); found != nil {
		t.Fatal(found.story(t.Name()))
	}
	for _, f := range families() {
		t.Run(f.name, func(t *testing.T) {
			c.parallel(t)
			all, err := seeds()
			if err != nil {
				t.Fatal(err)
			}
			if found, _ := trial.explore(t, f, all); found != nil {
				t.Error(found.story(t.Name()))
			}
		})
	}
}
