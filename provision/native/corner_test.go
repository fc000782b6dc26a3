// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package native

import (
	"context"
	"os"
	"os/exec"
	"testing"

	"github.com/seed-720a3c77/harness/internal/proc"
	"github.com/seed-720a3c77/harness/provision"
)

// sleeper starts a process with a group of its own and the mark of dir.
func sleeper(t *testing.T, dir string) process {
	t.Helper()
	p, err := spawn(command{Name: "sleeper", Path: "/bin/sleep", Args: []string{"600"}}, dir, os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.kill(context.Background()) })
	return p
}

// fresh is a corner of an empty cache, with its folders.
func fresh(t *testing.T) corner {
	t.Helper()
	c := corner{t.TempDir(), provision.Kafka}
	unlock, err := c.lock(t.Context()) // makes the state folder
	if err != nil {
		t.Fatal(err)
	}
	unlock()
	if err := os.MkdirAll(c.runDir(), 0o700); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSweepEndsWhatTheStateNames(t *testing.T) {
	c := fresh(t)
	p := sleeper(t, t.TempDir()) // not marked: only the state knows it
	if err := c.save(state{Processes: []process{p}}); err != nil {
		t.Fatal(err)
	}
	if err := c.sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p.Alive() || exists(c.statePath()) || exists(c.runDir()) {
		t.Errorf("alive %v, state %v, data %v", p.Alive(), exists(c.statePath()), exists(c.runDir()))
	}
}

func TestSweepSparesAProcessThatTookTheID(t *testing.T) {
	c := fresh(t)
	p := sleeper(t, t.TempDir())
	stale := p
	stale.Started = "another time"
	if err := c.save(state{Processes: []process{stale}}); err != nil {
		t.Fatal(err)
	}
	if err := c.sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !p.Alive() {
		t.Error("a process was ended that is not the broker's")
	}
}

func TestAZombieIsNotAlive(t *testing.T) {
	cmd := exec.Command("/bin/sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait() // not before the end: until then it stays a zombie
	made, ok := proc.Of(cmd.Process.Pid)
	if !ok {
		t.Fatal("a running process is not alive")
	}
	p := process{"zombie", made}
	if err := p.kill(t.Context()); err != nil || p.Alive() {
		t.Errorf("kill = %v, alive %v", err, p.Alive())
	}
}

func TestStateSurvivesTheFile(t *testing.T) {
	c := fresh(t)
	want := state{
		Setup: "1 sha256:x", Version: "1",
		Site:      site{Home: "h", Dir: "d", Ports: map[string]int{"client": 15001}},
		Processes: []process{{"epmd", proc.Process{PID: 7, Started: "t7"}}, {"rabbitmq", proc.Process{PID: 8, Started: "t8"}}},
	}
	if err := c.save(want); err != nil {
		t.Fatal(err)
	}
	got, err := c.load()
	if err != nil || got.Site.address("client") != "127.0.0.1:15001" || len(got.Processes) != 2 || got.Processes[1] != want.Processes[1] {
		t.Errorf("load() = %+v, %v", got, err)
	}
	next := got.with(process{"epmd", proc.Process{PID: 9, Started: "t9"}})
	if p, _ := next.process("epmd"); p.PID != 9 || len(next.Processes) != 2 || got.Processes[0].PID != 7 {
		t.Errorf("with() = %+v, and the old one %+v", next.Processes, got.Processes)
	}
}
