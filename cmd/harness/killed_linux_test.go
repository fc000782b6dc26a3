// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/internal/catalog"
	"github.com/seed-720a3c77/harness/internal/testenv"
)

// victim is a harness that will be killed.
type victim struct {
	name string
	args []string
	// engine is a broker that runs on, "" where there is none or the run starts its own.
	engine string
	// native: the run starts a broker of its own.
	native bool
	// within is how late the kill may come.
	within time.Duration
}

func victims() []victim {
	return []victim{
		{name: "inmem", args: []string{"--on", "inmem"}, within: 4 * time.Second},
		{name: "kafka", args: []string{"zombie", "--variant", "plain", "--on", "kafka"}, engine: "kafka", within: 7 * time.Second},
		{name: "sqs", args: []string{"crash-process", "--variant", "after-batch", "--on", "sqs"}, engine: "sqs", within: 5 * time.Second},
		{name: "rabbitmq", args: []string{"kill-soak", "--variant", "after-batch", "--on", "rabbitmq"}, engine: "rabbitmq", within: 9 * time.Second},
		{name: "native", args: []string{"crash-process", "--variant", "after-handler", "--on", "rabbitmq", "--provider", "native"}, native: true, within: 16 * time.Second},
	}
}

// TestTheHarnessIsKilledAtRandomTimes: what it had written can be read and judged, never to
// a verdict that is wrong; no worker outlives it, not even a stopped one, no broker that it
// started, and no topic or queue on one that runs on. Every other time its watchdog is killed
// with it, and the next start cleans up.
func TestTheHarnessIsKilledAtRandomTimes(t *testing.T) {
	testenv.Short(t, "half a minute of real brokers")
	times, seed := 2, uint64(1)
	if testenv.Soaking() {
		times = 10
	}
	binary := build(t)
	for i, v := range victims() {
		t.Run(v.name, func(t *testing.T) {
			if v.engine != "" {
				testenv.Broker(t, v.engine)
			}
			t.Parallel()
			moments := rand.New(rand.NewPCG(seed, uint64(i)))
			for n := range times {
				v.kill(t, binary, time.Duration(moments.Int64N(int64(v.within))), n%2 == 1)
			}
		})
	}
}

// kill runs the harness, kills it after a while, and looks at what is left.
func (v *victim) kill(t *testing.T, binary string, after time.Duration, together bool) {
	out, cache := filepath.Join(t.TempDir(), "suite"), t.TempDir()
	args := append([]string{"run", "--out", out}, v.args...)
	if v.native {
		installed(t, cache)
	} else {
		args = append(args, "--provider", "external")
	}
	var said bytes.Buffer
	cmd := exec.Command(binary, args...)
	cmd.Env, cmd.Stderr = append(os.Environ(), "HARNESS_CACHE="+cache), &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(after)
	if together {
		killWatchdog(t, cache)
	}
	cmd.Process.Kill()
	cmd.Wait()
	t.Logf("killed after %s, its watchdog too: %t", after, together)
	if together {
		startAgain(t, binary, cache)
	}
	waitUntil(t, "nothing that it started is left", func() bool { return len(mentioning(t, out, cache)) == 0 })
	waitUntil(t, "the watchdog is done", func() bool { return len(journalsIn(t, cache)) == 0 })
	runs, err := filepath.Glob(filepath.Join(out, "*", manifest))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range runs {
		judgeKilled(t, binary, filepath.Dir(path))
		if v.engine != "" {
			nothingStored(t, filepath.Dir(path))
		}
	}
}

// killWatchdog kills the one that has its journal in a cache, if it is there yet.
func killWatchdog(t *testing.T, cache string) {
	t.Helper()
	for _, path := range mentioning(t, cache) {
		words, err := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		if err != nil || !bytes.Contains(words, []byte("\x00watchdog\x00")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have been found twice
		}
	}
}

// startAgain runs something else with the same cache.
func startAgain(t *testing.T, binary, cache string) {
	t.Helper()
	cmd := exec.Command(binary, "run", "steady", "--on", "inmem:kafka", "--out", filepath.Join(t.TempDir(), "next"))
	cmd.Env = append(os.Environ(), "HARNESS_CACHE="+cache)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("the next start: %v\n%s", err, text)
	}
}

// installed gives a cache of its own the programs of a broker that were installed before.
func installed(t *testing.T, cache string) {
	t.Helper()
	from := filepath.Join(os.Getenv("HARNESS_CACHE"), "install")
	if _, err := os.Stat(filepath.Join(from, "rabbitmq")); err != nil {
		testenv.Lacks(t, "native", "RabbitMQ is not installed in HARNESS_CACHE as a local process")
	}
	if err := os.Symlink(from, filepath.Join(cache, "install")); err != nil {
		t.Fatal(err)
	}
}

// mentioning finds the processes that have one of the folders in their environment or on
// their command line: workers, brokers, their helpers, the watchdog.
func mentioning(t *testing.T, folders ...string) (found []string) {
	t.Helper()
	for _, file := range []string{"environ", "cmdline"} {
		paths, err := filepath.Glob("/proc/[0-9]*/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err == nil && slices.ContainsFunc(folders, func(dir string) bool { return bytes.Contains(text, []byte(dir)) }) {
				found = append(found, path)
			}
		}
	}
	return found
}

// judgeKilled checks what a killed harness left: a verdict, and never a violation that was
// not there.
func judgeKilled(t *testing.T, binary, dir string) {
	t.Helper()
	text, err := exec.Command(binary, "check", dir).CombinedOutput()
	var exit *exec.ExitError
	code := 0
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	}
	if code != exitPass && code != exitInconclusive {
		t.Errorf("exit %d of a check: %s", code, text)
	}
	t.Logf("%s: exit %d", filepath.Base(dir), code)
}

// nothingStored asks the broker for what the run had declared.
func nothingStored(t *testing.T, dir string) {
	t.Helper()
	run, err := history.Open(dir)
	if err != nil {
		t.Error(err)
		return
	}
	brokers, err := catalog.NewBrokers(catalog.Providing{Only: "external"})
	if err != nil {
		t.Fatal(err)
	}
	engines, err := catalog.Find(run.Header.Engine)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := brokers.Connect(context.Background(), engines[0])
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Engine.Close(context.Background())
	for _, d := range run.Header.Destinations {
		if _, err := conn.Engine.Depth(context.Background(), d.Broker, ""); err == nil {
			t.Errorf("%s of the killed run is still there", d.Broker)
		}
	}
}
