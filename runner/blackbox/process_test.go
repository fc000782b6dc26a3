// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package blackbox

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
func shell(t *testing.T, script string) *process {
	t.Helper()
	ready := filepath.Join(t.TempDir(), "ready")
	p, err := launch([]string{"sh", "-c", script}, append(os.Environ(), "READY="+ready), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.end()
		if !p.gone(t.Context(), observePatience) && t.Context().Err() == nil {
			t.Error("the process is left")
		}
	})
	for deadline := time.Now().Add(observePatience); ; {
		if _, err := os.Stat(ready); err == nil {
			return p
		}
		if time.Now().After(deadline) {
			t.Fatal("the script never was ready: ", p.output.last(100))
		}
		time.Sleep(time.Millisecond)
	}
}

func TestAProcessIsFrozenAndThawed(t *testing.T) {
	p := shell(t, `echo >"$READY"; while :; do sleep 0.01; done`)
	if err := p.freeze(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.thaw(t.Context()); err != nil {
		t.Fatal(err)
	}
	still := false
	if err := p.kill(t.Context(), func() { still = true }); err != nil || !still {
		t.Errorf("kill: %v; still was told: %v", err, still)
	}
	if how := p.how(); how != "by signal killed" {
		t.Errorf("it ended %s", how)
	}
	if err := p.freeze(t.Context()); !errors.Is(err, errEnded) {
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
			if err := p.kill(t.Context(), func() {}); err != nil {
				t.Fatal(err)
			}
		}
		p.gone(t.Context(), observePatience)
		p.quiet()
		child, err := strconv.Atoi(strings.TrimPrefix(p.output.last(100), "it said: "))
		if err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(observePatience); alive(child); {
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
	if err := p.freeze(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.ask() // also a frozen one
	if !p.gone(t.Context(), observePatience) {
		t.Fatal("it did not leave")
	}
	p.quiet()
	if how, said := p.how(), p.output.last(100); how != "with exit status 7" || !strings.HasSuffix(said, "bye") {
		t.Errorf("it ended %s, and %s", how, said)
	}
}

func TestAProgramThatIsNotThere(t *testing.T) {
	if _, err := launch([]string{"./no-such-program"}, nil, nil); err == nil {
		t.Error("it was started")
	}
}

func TestTail(t *testing.T) {
	var long tail
	for range 100 {
		if _, err := long.Write(bytes.Repeat([]byte("0123456789"), 1000)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := long.Write([]byte("the end\xff\n")); err != nil {
		t.Fatal(err)
	}
	if len(long.kept) != tailSize {
		t.Errorf("%d bytes are kept, want %d", len(long.kept), tailSize)
	}
	if got := long.last(11); got != "it said last: ...89the end?" {
		t.Errorf("last %q", got)
	}
	if got := new(tail).last(10); got != "it said nothing" {
		t.Errorf("nothing is %q", got)
	}
}
