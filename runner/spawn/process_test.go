// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package spawn

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// shell launches a script that says "ready" and waits for the word.
func shell(t *testing.T, script string) *Process {
	t.Helper()
	ready := filepath.Join(t.TempDir(), "ready")
	p, err := Program{Args: []string{"sh", "-c", script}, Env: append(os.Environ(), "READY="+ready)}.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.End()
		if !p.Gone(t.Context(), Patience) && t.Context().Err() == nil {
			t.Error("the process is left")
		}
	})
	for deadline := time.Now().Add(Patience); ; {
		if _, err := os.Stat(ready); err == nil {
			return p
		}
		if time.Now().After(deadline) {
			t.Fatal("the script never was ready: ", p.Said(100))
		}
		time.Sleep(time.Millisecond)
	}
}

func TestAProcessIsFrozenAndThawed(t *testing.T) {
	p := shell(t, `echo >"$READY"; while :; do sleep 0.01; done`)
	if err := p.Freeze(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.Thaw(t.Context()); err != nil {
		t.Fatal(err)
	}
	still := false
	if err := p.Kill(t.Context(), func() { still = true }); err != nil || !still {
		t.Errorf("kill: %v; still was told: %v", err, still)
	}
	if how := p.How(); how != "signal: killed" {
		t.Errorf("it ended %s", how)
	}
	if err := p.Freeze(t.Context()); !errors.Is(err, ErrEnded) {
		t.Errorf("freeze the dead: %v", err)
	}
}

// TestAKillTakesTheGroup: a launcher's program dies with it, also when the launcher ends first.
func TestAKillTakesTheGroup(t *testing.T) {
	for name, script := range map[string]string{
		"killed":          `sleep 1000 & echo $!; echo >"$READY"; wait`,
		"ended by itself": `sleep 1000 & echo $!; echo >"$READY"`,
	} {
		p := shell(t, script)
		if name == "killed" {
			if err := p.Kill(t.Context(), func() {}); err != nil {
				t.Fatal(err)
			}
		}
		p.Gone(t.Context(), Patience)
		p.Quiet()
		child, err := strconv.Atoi(p.Said(100))
		if err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(Patience); alive(child); {
			if time.Now().After(deadline) {
				t.Fatalf("%s: its child %d lives on", name, child)
			}
			time.Sleep(time.Millisecond)
		}
	}
}

// alive tells whether a process runs; one that nobody reaped yet does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || !bytes.Contains(status, []byte(") Z "))
}

func TestAProcessIsAskedToLeave(t *testing.T) {
	p := shell(t, `trap 'echo bye; exit 7' TERM; echo >"$READY"; while :; do sleep 0.01; done`)
	if err := p.Freeze(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.Ask() // also a frozen one
	if !p.Gone(t.Context(), Patience) {
		t.Fatal("it did not leave")
	}
	p.Quiet()
	if how, said := p.How(), p.Said(100); how != "exit status 7" || !strings.HasSuffix(said, "bye") {
		t.Errorf("it ended %s, and %s", how, said)
	}
}

func TestAProgramThatIsNotThere(t *testing.T) {
	if _, err := (Program{Args: []string{"./no-such-program"}}).Start(); err == nil {
		t.Error("it was started")
	}
}
