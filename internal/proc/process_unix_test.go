// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package proc

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

func TestANameIsNotALaterProcess(t *testing.T) {
	p, ok := Of(os.Getpid())
	if !ok || !p.Alive() {
		t.Fatalf("%+v, %t", p, ok)
	}
	other := Process{p.PID, p.Started + "0"}
	if other.Alive() || other.Stopped() {
		t.Error("a process with another start is taken for this one")
	}
	other.Kill() // would end the test
}

func TestSignalsReachAProcessThatLeadsNoGroup(t *testing.T) {
	cmd := exec.Command("/bin/sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p, ok := Of(cmd.Process.Pid)
	if !ok {
		t.Fatal("a running process is not found")
	}
	p.Freeze()
	waitFor(t, "it stands", p.Stopped)
	p.Thaw()
	waitFor(t, "it goes on", func() bool { return !p.Stopped() })
	p.Kill()
	waitFor(t, "a zombie is not alive", func() bool { return !p.Alive() })
	if err := cmd.Wait(); err == nil || cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("ended by %v", err)
	}
}

// waitFor waits for what the kernel does; the limit is for a broken test alone.
func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	for limit := time.Now().Add(30 * time.Second); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("in vain: " + what)
		}
	}
}
