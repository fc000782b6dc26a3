// SPDX-License-Identifier: Apache-2.0

package runner_test

import (
	"context"
	"errors"
	"strings"
	"testing"

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
}

func (n *fakeNode) Name() string                 { return "fake/1" }
func (n *fakeNode) PID() int                     { return n.pid }
func (n *fakeNode) Kill(context.Context) error   { n.pid = 0; return nil }
func (n *fakeNode) Freeze(context.Context) error { return nil }

func (n *fakeNode) Control(context.Context, ...string) (string, error) {
	return "", errors.ErrUnsupported
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
