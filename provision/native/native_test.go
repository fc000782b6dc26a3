// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package native

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seed-720a3c77/harness/provision"
	"github.com/seed-720a3c77/harness/provision/probe"
)

func TestUpReturnsTheRunningBroker(t *testing.T) {
	f := newFake("1")
	cache := t.TempDir()
	first := up(t, providerOf(t, f, cache))
	second := up(t, providerOf(t, f, cache)) // as another process would
	if first.Address != second.Address || first.Nodes[0].PID() != second.Nodes[0].PID() {
		t.Errorf("two brokers: %v and %v", first, second)
	}
	if d, s := f.downloads.Load(), f.starts.Load(); d != 1 || s != 1 {
		t.Errorf("%d downloads and %d starts, want one of each", d, s)
	}
}

func TestConcurrentUpsStartOneBroker(t *testing.T) {
	f := newFake("1")
	p := providerOf(t, f, t.TempDir())
	addresses := make([]string, 8)
	var all sync.WaitGroup
	for i := range addresses {
		all.Go(func() {
			e, err := p.Up(context.Background(), provision.Kafka)
			if err != nil {
				t.Error(err)
			}
			addresses[i] = e.Address
		})
	}
	all.Wait()
	for _, a := range addresses {
		if a == "" || a != addresses[0] {
			t.Errorf("addresses differ: %v", addresses)
		}
	}
	if s := f.starts.Load(); s != 1 {
		t.Errorf("%d starts, want 1", s)
	}
}

func TestDownLeavesNothingButTheDownload(t *testing.T) {
	f := newFake("1")
	cache := t.TempDir()
	p := providerOf(t, f, cache)
	e := up(t, p)
	c := corner{cache, provision.Kafka}
	s, err := c.load()
	if err != nil || len(s.Processes) != 2 {
		t.Fatalf("state %+v, %v", s, err)
	}
	if err := p.Down(t.Context(), provision.Kafka); err != nil {
		t.Fatal(err)
	}
	for _, process := range s.Processes {
		if process.Alive() {
			t.Errorf("%s is still alive", process.Name)
		}
	}
	if probe.TCP(t.Context(), e.Address) == nil {
		t.Error("the broker still answers")
	}
	for path, want := range map[string]bool{c.runDir(): false, c.statePath(): false, c.installDir(): true} {
		if exists(path) != want {
			t.Errorf("%s exists: %v, want %v", path, !want, want)
		}
	}
	if running, err := p.Status(t.Context()); len(running) != 0 || err != nil {
		t.Errorf("Status() = %v, %v", running, err)
	}
	if err := p.Down(t.Context(), provision.Kafka); err != nil {
		t.Errorf("down twice: %v", err)
	}
}

func TestStatusShowsWhatRuns(t *testing.T) {
	p := providerOf(t, newFake("1.2"), t.TempDir())
	e := up(t, p)
	running, err := p.Status(t.Context())
	if err != nil || len(running) != 1 {
		t.Fatalf("Status() = %v, %v", running, err)
	}
	if got := running[0]; got.Address != e.Address || got.Version != "1.2" || got.Provider != "native" {
		t.Errorf("Status() = %+v, want %+v", got, e)
	}
}

func TestANewRecipeReplacesWhatRuns(t *testing.T) {
	cache := t.TempDir()
	old := up(t, providerOf(t, newFake("1"), cache))
	f := newFake("2")
	p := providerOf(t, f, cache)
	if e := up(t, p); e.Version != "2" || f.downloads.Load() != 1 {
		t.Errorf("got version %s after %d downloads, want 2 after 1", e.Version, f.downloads.Load())
	}
	if probe.TCP(t.Context(), old.Address) == nil {
		t.Error("the old broker still answers")
	}
}

func TestAnInterruptedDownloadIsNotUsed(t *testing.T) {
	f := newFake("1")
	cache := t.TempDir()
	c := corner{cache, provision.Kafka}
	partial := c.installDir() + ".partial"
	half := map[string]string{ // a killed download, and an installation that lost its stamp
		filepath.Join(partial, "broker"):        "",
		filepath.Join(partial, "left-over"):     "",
		filepath.Join(c.installDir(), "broker"): "",
	}
	for path, text := range half {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	up(t, providerOf(t, f, cache))
	if f.downloads.Load() != 1 || exists(partial) || exists(filepath.Join(c.installDir(), "left-over")) {
		t.Errorf("%d downloads, partial exists %v", f.downloads.Load(), exists(partial))
	}
}

func TestUpAdoptsABrokerWhoseStarterWasKilled(t *testing.T) {
	f := newFake("1.2")
	cache := t.TempDir()
	c := corner{cache, provision.Kafka}
	before := up(t, providerOf(t, f, cache))
	unready, err := c.load()
	if err != nil {
		t.Fatal(err)
	}
	unready.Version = "" // it is written down when the broker is ready
	if err := c.save(unready); err != nil {
		t.Fatal(err)
	}
	if e := up(t, providerOf(t, f, cache)); e.Version != "1.2" || e.Address != before.Address {
		t.Errorf("Up() = %+v, want version 1.2 at %s", e, before.Address)
	}
	if s, err := c.load(); err != nil || s.Version != "1.2" {
		t.Errorf("the state has version %q, %v", s.Version, err)
	}
}

func TestUpSweepsAStartThatWasCutShort(t *testing.T) {
	f := newFake("1")
	cache := t.TempDir()
	p := providerOf(t, f, cache)
	c := corner{cache, provision.Kafka}
	up(t, p)
	half, err := c.load()
	if err != nil {
		t.Fatal(err)
	}
	half.Processes = half.Processes[:1] // killed before the second was written down
	if err := c.save(half); err != nil {
		t.Fatal(err)
	}
	helper := half.Processes[0]
	if err := helper.kill(t.Context()); err != nil { // and a dead id in the state
		t.Fatal(err)
	}
	before := marked(c.runDir())
	up(t, p)
	for _, process := range before {
		if process.Alive() {
			t.Errorf("process %d of the first start is alive", process.PID)
		}
	}
	if f.starts.Load() != 2 || f.downloads.Load() != 1 {
		t.Errorf("%d starts and %d downloads, want 2 and 1", f.starts.Load(), f.downloads.Load())
	}
}

func TestAFailedDownloadIsUnavailableAndLeavesNothing(t *testing.T) {
	f := newFake("1")
	f.installErr = errors.New("no route to host")
	cache := t.TempDir()
	_, err := providerOf(t, f, cache).Up(t.Context(), provision.Kafka)
	if !errors.Is(err, provision.ErrUnavailable) || !strings.Contains(err.Error(), "no route to host") {
		t.Errorf("Up() = %v, want ErrUnavailable with the cause", err)
	}
	left, _ := filepath.Glob(filepath.Join(cache, "install", "*"))
	if len(left) != 0 {
		t.Errorf("left in the cache: %v", left)
	}
}

func TestABrokerThatEndsIsReportedWithItsLog(t *testing.T) {
	f := newFake("1")
	f.words = "cannot bind: address in use"
	cache := t.TempDir()
	_, err := providerOf(t, f, cache).Up(t.Context(), provision.Kafka)
	if err == nil || errors.Is(err, provision.ErrUnavailable) {
		t.Fatalf("Up() = %v, want a failure", err)
	}
	for _, part := range []string{f.words, "process fake ended", "fake.log"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error does not tell %q: %v", part, err)
		}
	}
	if left := marked(corner{cache, provision.Kafka}.runDir()); len(left) != 0 {
		t.Errorf("processes left: %v", left)
	}
}

func TestUpGivesUpWithItsContext(t *testing.T) {
	p := providerOf(t, newFake("1"), t.TempDir())
	_, c, err := p.prepare(provision.Kafka)
	if err != nil {
		t.Fatal(err)
	}
	unlock, err := c.lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Up(ctx, provision.Kafka); !errors.Is(err, context.Canceled) {
		t.Errorf("Up() = %v while another holds the lock, want context.Canceled", err)
	}
}

func TestUnknownEngine(t *testing.T) {
	p := &Provider{Cache: t.TempDir()}
	if _, err := p.Up(t.Context(), "kafak"); err == nil || !strings.Contains(err.Error(), "kafka, sqs, rabbitmq") {
		t.Errorf("Up() = %v", err)
	}
}
