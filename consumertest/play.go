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
	err := inBubble(t, func() { inVirtualTime(c, r, p, o) })
	c.judge(o, r, clean)
	if err != nil {
		o.violations = append(o.violations, violation{symptom: leaked, event: -1, text: err.Error()})
	}
	return o
}

func inVirtualTime(c *config, r *rules, p *plan, o *outcome) {
	clk := clock.NewVirtual(p.seed)
	defer clk.Close()
	clk.InBubble(synctest.Wait)
	newScene(c, r, p, clk).direct(clk.Run, o)
}

// direct runs a scene from its beginning to its end, and notes what was seen.
func (s *scene) direct(run func(string, func(context.Context)) error, o *outcome) {
	var err error
	if ran := run("scenario", func(ctx context.Context) { err = s.main(ctx) }); ran != nil {
		err = errors.Join(err, ran)
	}
	if err != nil {
		s.fail("scenario", err)
	}
	o.seen = s.observe()
	o.facts, o.trace = s.facts, s.trace.entries()
	o.facts.took = s.trace.now()
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
	s.world.end()
	time.Sleep(linger)
}

func panicError(what string, value any) error {
	return fmt.Errorf("%s: %v\n%s", what, value, debug.Stack())
}
