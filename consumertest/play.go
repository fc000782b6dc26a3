// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-720a3c77/harness/clock"
)

// play runs a plan in a bubble of its own and judges it.
func play(t *testing.T, c *config, r *rules, p *plan, clean *outcome) *outcome {
	t.Helper()
	o := &outcome{plan: p}
	err := c.stage(t, r, p, o)
	c.judge(o, r, clean)
	if err != nil {
		o.violations = append(o.violations, violation{symptom: leaked, event: -1, text: err.Error()})
	}
	return o
}

// stage runs a plan in the time that the test asked for.
func (c *config) stage(t *testing.T, r *rules, p *plan, o *outcome) error {
	if c.pace.real {
		inRealTime(c, r, p, o)
		return nil
	}
	return inBubble(t, func() { inVirtualTime(c, r, p, o) })
}

func inRealTime(c *config, r *rules, p *plan, o *outcome) {
	clk := clock.NewWall(p.seed)
	defer clk.Close()
	newScene(c, r, p, clk).direct(clk.Run, o)
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
	o.facts, o.trace = s.book(), s.trace.entries()
	close(s.over)
	s.leave()
}

// leave lets the goroutines go that still stand at a yield point, and asks the others to.
func (s *scene) leave() {
	for _, p := range s.alive {
		for _, c := range p.unended() {
			c.cancel()
		}
	}
	s.world.end()
	time.Sleep(s.rules.pace.linger)
}
