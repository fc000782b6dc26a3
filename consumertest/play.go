// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-720a3c77/harness/clock"
)

// play runs a plan in a bubble of its own and judges it.
func play(t *testing.T, c *config, r *rules, p *plan, clean *outcome) *outcome {
	t.Helper()
	o := &outcome{plan: p}
	err := inBubble(t, func() { direct(c, r, p, o) })
	if err != nil {
		o.violations = append(o.violations, violation{symptom: leaked, event: -1, text: err.Error()})
	}
	c.judge(o, clean)
	return o
}

// inBubble runs f in a testing/synctest bubble. Goroutines that are left behind are its error.
func inBubble(t *testing.T, f func()) (err error) {
	t.Helper()
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("%v", value)
		}
	}()
	synctest.Test(t, func(*testing.T) { f() })
	return nil
}

// direct runs a plan on virtual time.
func direct(c *config, r *rules, p *plan, o *outcome) {
	clk := clock.NewVirtual(p.seed)
	defer clk.Close()
	clk.InBubble(synctest.Wait)
	s := newScene(c, r, p, clk)
	var err error
	if ran := clk.Run("scenario", func(ctx context.Context) { err = s.main(ctx) }); ran != nil {
		err = errors.Join(err, ran)
	}
	if err != nil {
		s.fail("scenario", err)
	}
	o.seen = s.observe()
	o.facts, o.trace = s.facts, s.trace.entries()
	o.facts.virtual = s.trace.now()
	close(s.over)
	s.leave()
}

// linger is how long what the handler started may take to end.
const linger = time.Minute

// leave lets the goroutines go that still stand at a yield point, and asks the others to.
func (s *scene) leave() {
	for _, p := range s.alive {
		for _, c := range p.open() {
			c.cancel()
		}
	}
	time.Sleep(linger)
}

func panicError(what string, value any) error {
	return fmt.Errorf("%s: %v\n%s", what, value, debug.Stack())
}
