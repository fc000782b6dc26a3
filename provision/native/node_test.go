// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package native

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/internal/proc"
	"github.com/seed-720a3c77/harness/provision"
	"github.com/seed-720a3c77/harness/provision/probe"
)

func TestANodeIsKilledAndComesBackAtItsAddress(t *testing.T) {
	f := newFake("1")
	cache := t.TempDir()
	e := up(t, providerOf(t, f, cache))
	node := e.Nodes[0]
	helper := helperOf(t, cache)

	if err := node.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if node.PID() != 0 || probe.TCP(t.Context(), e.Address) == nil {
		t.Errorf("after a kill: pid %d", node.PID())
	}
	if err := node.Freeze(t.Context()); err == nil {
		t.Error("a dead node was frozen")
	}
	if err := node.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if node.PID() == 0 || probe.TCP(t.Context(), e.Address) != nil {
		t.Error("the node did not come back at its address")
	}
	if f.starts.Load() != 1 {
		t.Error("a restart made a fresh site: the data is gone")
	}
	if helperOf(t, cache) != helper {
		t.Error("a restart replaced a helper that was alive")
	}
	if got := up(t, providerOf(t, f, cache)); got.Address != e.Address {
		t.Errorf("Up() after a restart gives %s, want %s", got.Address, e.Address)
	}
}

func helperOf(t *testing.T, cache string) process {
	t.Helper()
	s, err := corner{cache, provision.Kafka}.load()
	if err != nil {
		t.Fatal(err)
	}
	p, ok := s.process("helper")
	if !ok || !p.Alive() {
		t.Fatal("the helper is gone")
	}
	return p
}

func TestRestartReplacesARunningNode(t *testing.T) {
	e := up(t, providerOf(t, newFake("1"), t.TempDir()))
	before := e.Nodes[0].PID()
	if err := e.Nodes[0].Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := e.Nodes[0].PID(); after == 0 || after == before {
		t.Errorf("pid %d, then %d", before, after)
	}
}

// stopped tells whether the process that has a number is held.
func stopped(pid int) bool {
	p, ok := proc.Of(pid)
	return ok && p.Stopped()
}

func TestANodeIsFrozenAndThawed(t *testing.T) {
	e := up(t, providerOf(t, newFake("1"), t.TempDir()))
	node := e.Nodes[0]
	if err := node.Freeze(t.Context()); err != nil || !stopped(node.PID()) {
		t.Errorf("Freeze() = %v, stopped %v", err, stopped(node.PID()))
	}
	if err := node.Thaw(t.Context()); err != nil || stopped(node.PID()) {
		t.Errorf("Thaw() = %v, stopped %v", err, stopped(node.PID()))
	}
	if err := node.Thaw(t.Context()); err != nil {
		t.Errorf("thaw twice: %v", err)
	}
}

func TestANodeIsControlled(t *testing.T) {
	node := up(t, providerOf(t, newFake("1"), t.TempDir())).Nodes[0]
	if printed, err := node.Control(t.Context(), "status"); err != nil || printed != "status here\n" {
		t.Errorf("Control() = %q, %v", printed, err)
	}
	if _, err := node.Control(t.Context(), "stutter"); err == nil || !strings.Contains(err.Error(), "what is stutter?") {
		t.Errorf("Control() = %v, want the complaint", err)
	}
}

func TestUpThawsWhatWasLeftFrozen(t *testing.T) {
	f := newFake("1")
	cache := t.TempDir()
	node := up(t, providerOf(t, f, cache)).Nodes[0]
	if err := node.Freeze(t.Context()); err != nil {
		t.Fatal(err)
	}
	pid := node.PID()
	if got := up(t, providerOf(t, f, cache)).Nodes[0].PID(); got != pid || stopped(pid) {
		t.Errorf("pid %d, want %d, stopped %v", got, pid, stopped(pid))
	}
}

func TestNodesOfABrokerTakenDown(t *testing.T) {
	p := providerOf(t, newFake("1"), t.TempDir())
	node := up(t, p).Nodes[0]
	if err := p.Down(t.Context(), provision.Kafka); err != nil {
		t.Fatal(err)
	}
	if err := node.Restart(t.Context()); !errors.Is(err, errNoNode) {
		t.Errorf("Restart() = %v, want errNoNode", err)
	}
	if node.PID() != 0 {
		t.Errorf("PID() = %d", node.PID())
	}
}
