// SPDX-License-Identifier: Apache-2.0

package native

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/provision"
)

func TestSweepFindsMarkedProcessesWithoutAState(t *testing.T) {
	for name, text := range map[string]string{"no state": "", "half a state": `{"processes": [{"pi`} {
		c := fresh(t)
		p, other := sleeper(t, c.runDir()), sleeper(t, t.TempDir())
		if text != "" {
			if err := os.WriteFile(c.statePath(), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if p.Alive() || !other.Alive() {
			t.Errorf("%s: marked alive %v, other alive %v", name, p.Alive(), other.Alive())
		}
	}
}

func TestInstallEndsToolsOfAnInterruptedOne(t *testing.T) {
	cache := t.TempDir()
	partial := corner{cache, provision.Kafka}.installDir() + ".partial"
	if err := os.MkdirAll(partial, 0o755); err != nil {
		t.Fatal(err)
	}
	tool := sleeper(t, partial)
	up(t, providerOf(t, newFake("1"), cache))
	if tool.Alive() {
		t.Error("a tool still writes where the new download goes")
	}
}

func TestACancelledToolTakesItsChildrenAlong(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	started := filepath.Join(dir, "started")
	go func() {
		until(t.Context(), func() bool { return exists(started) })
		cancel()
	}()
	_, err := run(ctx, dir, dir, "/bin/sh", "-c", "sleep 600 & echo > started; wait")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("run() = %v, want context.Canceled", err)
	}
	if err := until(t.Context(), func() bool { return len(marked(dir)) == 0 }); err != nil {
		t.Errorf("processes left: %v", marked(dir))
	}
}

func TestAFailedToolShowsWhatItSaid(t *testing.T) {
	_, err := run(t.Context(), t.TempDir(), "", "/bin/sh", "-c", "echo no space left; exit 3")
	if err == nil || !strings.Contains(err.Error(), "no space left") || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("run() = %v", err)
	}
}
