// SPDX-License-Identifier: Apache-2.0

package runner_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/contract/profiles"
	"github.com/seed-720a3c77/harness/effects"
	"github.com/seed-720a3c77/harness/faults"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/inmem/drive"
	"github.com/seed-720a3c77/harness/internal/catalog"
	"github.com/seed-720a3c77/harness/runner"
	"github.com/seed-720a3c77/harness/workloads"
)

// fakeNode is a broker process that was never there.
type fakeNode struct {
	pid, thaws, restarts int
	stuck                error
	// breaks is called as it is killed, frozen or controlled.
	breaks func(ctx context.Context) error
}

func (n *fakeNode) Name() string                     { return "fake/1" }
func (n *fakeNode) PID() int                         { return n.pid }
func (n *fakeNode) Kill(ctx context.Context) error   { n.pid = 0; return n.broken(ctx) }
func (n *fakeNode) Freeze(ctx context.Context) error { return n.broken(ctx) }

func (n *fakeNode) broken(ctx context.Context) error {
	if n.breaks == nil {
		return nil
	}
	return n.breaks(ctx)
}

// Control never raises an alarm; a limit is put back by a word that does not begin "absolute".
func (n *fakeNode) Control(ctx context.Context, args ...string) (string, error) {
	if args[0] == "status" {
		return `{"vm_memory_high_watermark_setting": {"relative": 0.4}}`, nil
	}
	if args[1] == "absolute" {
		return "", n.broken(ctx)
	}
	n.thaws++
	return "", n.stuck
}

func (n *fakeNode) Thaw(context.Context) error {
	n.thaws++
	return n.stuck
}

func (n *fakeNode) Restart(context.Context) error {
	n.restarts++
	return n.stuck
}

// panicStore panics at one message.
type panicStore struct{ effects.Store }

func (s panicStore) Apply(ctx context.Context, key effects.Key, who string) (effects.Result, error) {
	if key.ID.Seq == 50 {
		panic("a bug in the store")
	}
	return s.Store.Apply(ctx, key, who)
}

// runClock is either clock.
type runClock interface {
	clock.Clock
	Run(name string, fn func(context.Context)) error
	Close()
}

// strike runs the small workload on the wall's terms (no virtual place) with a fake node.
func strike(t *testing.T, clk runClock, timeline string, node *fakeNode, breakStore bool) (heals *faults.Heals, ran, crashed error) {
	t.Helper()
	doc, err := workloads.Parse("small.yaml", []byte(strings.Replace(small, "MORE", "size: 100", 1)+timeline))
	if err != nil {
		t.Fatal(err)
	}
	spec, _ := doc.Spec("")
	p, err := profiles.Named("rabbitmq")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := runner.NewPlan(spec, p, runner.Where{Nonce: 1, Faults: catalog.Faults(), Rig: &faults.Rig{Nodes: []string{"fake/1"}}})
	if err != nil {
		t.Fatal(err)
	}
	plan.Limit = time.Second // of a drain that waits for a fault which is never done
	defer clk.Close()
	recording := history.NewMemory(history.Header{Profile: p, Faults: plan.Faults()})
	heals = new(faults.Heals)
	config := runner.Config{
		Plan: plan, Engine: drive.New(clk, p, drive.Options{}), Clock: clk, Recording: recording,
		Nodes: []faults.Node{node}, Heals: heals,
	}
	if breakStore {
		config.Store = func(*runner.GroupPlan) (effects.Store, error) {
			inner, err := effects.NewMemory(clk, effects.Plain, 0)
			return panicStore{inner}, err
		}
	}
	crashed = clk.Run("small", func(ctx context.Context) { ran = runner.Run(ctx, config) })
	return heals, ran, crashed
}

// TestHealsOnEveryWayOut: at its time, at the end, and after a panic.
func TestHealsOnEveryWayOut(t *testing.T) {
	for _, c := range []struct {
		name, timeline string
		panics         bool
	}{
		{"in time", "  - {at: 100ms, do: broker-pause, for: 200ms}", false},
		{"at the end", "  - {at: 100ms, do: broker-pause}", false},
		{"by a step", "  - {at: 100ms, do: broker-pause}\n  - {after: 50ms, do: heal, fault: broker-pause}", false},
		{"after a panic", "  - {at: 100ms, do: broker-pause}", true},
	} {
		for _, clk := range []runClock{clock.NewVirtual(1), clock.NewWall(1)} {
			healedOnce(t, clk, c.name, c.timeline, c.panics)
		}
	}
}

func healedOnce(t *testing.T, clk runClock, name, timeline string, panics bool) {
	t.Helper()
	node := &fakeNode{pid: 7}
	heals, ran, crashed := strike(t, clk, timeline, node, panics)
	if ran != nil || (crashed != nil) != panics {
		t.Errorf("%s: %v, %v", name, ran, crashed)
	}
	if owed := node.thaws == 0; owed != panics {
		t.Errorf("%s: thawed %d times by the run itself", name, node.thaws)
	}
	if err := heals.After(context.Background()); err != nil || node.thaws != 1 {
		t.Errorf("%s: thawed %d times, %v", name, node.thaws, err)
	}
}

// TestHealThatFails names what is broken and what to do.
func TestHealThatFails(t *testing.T) {
	node := &fakeNode{pid: 7, stuck: errors.New("no such process")}
	_, ran, _ := strike(t, clock.NewVirtual(1), "  - {at: 100ms, do: broker-kill, for: 100ms}", node, false)
	for _, want := range []string{"broker-kill broker is still broken", "no such process", "by hand: harness down"} {
		if ran == nil || !strings.Contains(ran.Error(), want) {
			t.Errorf("%v does not say %q", ran, want)
		}
	}
	if node.restarts != 1 {
		t.Errorf("restarted %d times", node.restarts)
	}
}

// TestWhatFailsHalfway: a fault that broke something and then failed, was not seen to be
// active or was cut short by the end of the load is healed all the same, once. Only the
// first is a harness that failed.
func TestWhatFailsHalfway(t *testing.T) {
	fails := func(context.Context) error { return errors.New("no answer") }
	cut := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	for _, c := range []struct {
		name, do  string
		breaks    func(context.Context) error
		clk       runClock
		stuck     error
		want      []string
		thaws, up int
	}{
		{"a pause fails", "broker-pause", fails, clock.NewVirtual(1), nil, []string{"no answer"}, 1, 0},
		{"a pause is cut short", "broker-pause", cut, clock.NewWall(1), nil, nil, 1, 0},
		{"a kill fails when it is done", "broker-kill", fails, clock.NewVirtual(1), nil, []string{"no answer"}, 0, 1},
		{"a kill is cut short when it is done", "broker-kill", cut, clock.NewWall(1), nil, nil, 0, 1},
		{"an alarm fails", "alarm, for: 1s", fails, clock.NewVirtual(1), nil, []string{"no answer"}, 1, 0},
		{"an alarm is cut short", "alarm, for: 1s", cut, clock.NewWall(1), nil, nil, 1, 0},
		{"an alarm does not come", "alarm, for: 1s", nil, clock.NewVirtual(1), nil, nil, 1, 0},
		{"nor is its limit put back", "alarm, for: 1s", nil, clock.NewVirtual(1), errors.New("access refused"),
			[]string{"is still broken", "access refused", "by hand: rabbitmqctl"}, 1, 0},
	} {
		node := &fakeNode{pid: 7, breaks: c.breaks, stuck: c.stuck}
		_, ran, crashed := strike(t, c.clk, "  - {at: 10ms, do: "+c.do+"}", node, false)
		if crashed != nil || (ran != nil) != (c.want != nil) {
			t.Errorf("%s: %v, %v", c.name, ran, crashed)
		}
		for _, want := range c.want {
			if ran != nil && !strings.Contains(ran.Error(), want) {
				t.Errorf("%s: %v does not say %q", c.name, ran, want)
			}
		}
		if node.thaws != c.thaws || node.restarts != c.up {
			t.Errorf("%s: healed %d times, restarted %d times", c.name, node.thaws, node.restarts)
		}
	}
}
