// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package process

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/effects"
	"github.com/seed-720a3c77/harness/msg"
	"github.com/seed-720a3c77/harness/runner"
)

// The test binary plays workers, good and bad.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "play" {
		play(os.Args[2])
		return
	}
	os.Exit(m.Run())
}

func play(role string) {
	l := newLink(os.Stdin, os.NewFile(Up, "up"))
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	next := func(want kind) message {
		m, err := l.receive()
		must(err)
		if m.Kind != want {
			panic(fmt.Sprintf("%s instead of %s", m.Kind, want))
		}
		return m
	}
	switch role {
	case "exits":
		fmt.Fprintln(os.Stderr, "boom")
		os.Exit(3)
	case "babbles":
		_, err := os.NewFile(Up, "up").WriteString("hello\n")
		must(err)
		time.Sleep(time.Hour)
	case "mute":
		time.Sleep(time.Hour)
	}
	job := next(jobIs)
	must(l.send(message{Kind: ready}))
	next(begin)
	switch role {
	case "leaves":
	case "panics":
		fmt.Println(strings.Repeat("x", 3*lastWords))
		panic("of its own")
	case "babbles later":
		must(l.send(message{Kind: "nonsense"}))
		time.Sleep(time.Hour)
	case "beats":
		for {
			must(l.send(message{Kind: counted, Counts: &counts{Delivered: 1}}))
			time.Sleep(time.Millisecond)
		}
	case "talks":
		id := msg.ID{Producer: 1, Seq: 2}
		must(l.send(message{Kind: session, Text: job.Job.Seat.Name(), On: true}))
		must(l.send(message{Kind: notice, Notice: &broker.Notice{Kind: broker.SessionOpen}}))
		must(l.send(message{Kind: holding, On: true}))
		must(l.send(message{Kind: counted, Counts: &counts{1, 2, 3, 4}}))
		must(l.send(message{Kind: failures, Call: 1, ID: &id, N: 1}))
		fmt.Println(next(answer).N)
		must(l.send(message{Kind: apply, Call: 2, Key: &effects.Key{ID: id}, Text: "w"}))
		fmt.Println(next(answer).Result.Count)
		must(l.send(message{Kind: reach, Call: 3, ID: &id, Text: "mid-batch", N: 50}))
		next(answer)
		must(l.send(message{Kind: holding}))
		next(leave)
		os.Exit(4) // so that what it printed is shown
	}
}

// supervisor notes what it is told, and holds a worker at a point until it is let go.
type supervisor struct {
	mu    sync.Mutex
	heard []string
	at    chan string
	let   chan struct{}
}

func newSupervisor() *supervisor {
	return &supervisor{at: make(chan string, 1), let: make(chan struct{})}
}

func (s *supervisor) hear(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = append(s.heard, fmt.Sprintf(format, args...))
}

func (s *supervisor) all() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.heard)
}

func (s *supervisor) Reach(ctx context.Context, point string, n int, id msg.ID) {
	s.at <- fmt.Sprint(point, n, id)
	select {
	case <-s.let:
	case <-ctx.Done():
	}
}

func (s *supervisor) Failures(_ context.Context, id msg.ID, more int) int {
	s.hear("failures %s %d", id, more)
	return 41 + more
}
func (s *supervisor) Holding(batch bool)             { s.hear("holding %t", batch) }
func (s *supervisor) Session(name string, open bool) { s.hear("session %s %t", name, open) }
func (s *supervisor) Notice(n broker.Notice)         { s.hear("notice %d", n.Kind) }

// stage starts a worker of a role and, if it starts, has it served.
type stage struct {
	*supervisor
	process  *process
	progress runner.Progress
	served   chan error
	clock    *clock.Wall
}

func setStage(t *testing.T, ctx context.Context, role string) (*stage, error) {
	t.Helper()
	s := &stage{supervisor: newSupervisor(), served: make(chan error, 1), clock: clock.NewWall(1)}
	t.Cleanup(s.clock.Close)
	spawner := Spawner{Program: os.Args[0], Args: []string{"play", role}, Clock: s.clock, Dir: t.TempDir(), Patience: 20 * time.Second}
	if role == "mute" {
		spawner.Patience = 50 * time.Millisecond
	}
	p, err := spawner.Spawn(ctx, runner.Seat{Group: "billing", Number: 1, Life: 1})
	if err != nil {
		return nil, err
	}
	s.process = p.(*process)
	t.Cleanup(s.process.End)
	memory, err := effects.NewMemory(s.clock, effects.Plain, 0)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		var err error
		crashed := s.clock.Run("test", func(ctx context.Context) {
			err = s.process.Serve(ctx, s.clock, runner.Desk{Supervisor: s.supervisor, Store: memory, Progress: &s.progress})
		})
		if crashed != nil {
			err = crashed
		}
		s.served <- err
	}()
	return s, nil
}

func TestBadWorkersAreErrorsWithTheirLastWords(t *testing.T) {
	for _, c := range []struct {
		role, want string
		served     bool
	}{
		{"exits", "start billing/1.1: EOF\nexit status 3: boom", false},
		{"babbles", `not a message: "hello"`, false},
		{"mute", "not ready after 50ms\nsignal: killed", false},
		{"panics", "panic: of its own", true},
		{"babbles later", `unexpected "nonsense"`, true},
	} {
		s, err := setStage(t, context.Background(), c.role)
		if c.served && err == nil {
			err = <-s.served
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > lastWords+200 {
			t.Errorf("%s: %v, want %q", c.role, err, c.want)
		}
	}
}

func TestAProgramThatIsNotThere(t *testing.T) {
	s := Spawner{Program: "/nonexistent", Clock: clock.NewWall(1)}
	if _, err := s.Spawn(context.Background(), runner.Seat{Group: "g"}); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Error(err)
	}
}

func TestAnExitWithoutErrorIsNone(t *testing.T) {
	s, err := setStage(t, context.Background(), "leaves")
	if err != nil {
		t.Fatal(err)
	}
	if err := <-s.served; err != nil {
		t.Error(err)
	}
}

// TestConversation: everything a worker says arrives, every question is answered, and it
// stands at its point until it is let go.
func TestConversation(t *testing.T) {
	s, err := setStage(t, context.Background(), "talks")
	if err != nil {
		t.Fatal(err)
	}
	if at := <-s.at; at != "mid-batch50 p1/2" {
		t.Errorf("at %q", at)
	}
	close(s.let)
	waitFor(t, "the worker goes on", func() bool { return slices.Contains(s.all(), "holding false") })
	s.process.Leave()
	if err := <-s.served; err == nil || err.Error() != "exit status 4: 42\n1" {
		t.Errorf("%v", err)
	}
	want := []string{"session billing/1.1 true", "notice 1", "holding true", "failures p1/2 1", "holding false"}
	if heard := s.all(); !slices.Equal(heard, want) {
		t.Errorf("heard %q, want %q", heard, want)
	}
	p := &s.progress
	if got := [4]int64{p.Delivered.Load(), p.Handled.Load(), p.Failed.Load(), p.Settled.Load()}; got != [4]int64{1, 2, 3, 4} {
		t.Errorf("counted %v", got)
	}
}

// TestKillIsSeenWhileItStands: between, no code of the worker runs, but it is there.
func TestKillIsSeenWhileItStands(t *testing.T) {
	for _, role := range []string{"talks", "beats"} {
		s, err := setStage(t, context.Background(), role)
		if err != nil {
			t.Fatal(err)
		}
		if role == "talks" {
			<-s.at // a worker that is held is killed too
		}
		still := 0
		err = s.process.Kill(context.Background(), func() {
			still++
			if state := stateOf(t, s.process.PID()); !strings.HasPrefix(state, "T") {
				t.Errorf("%s: state %q while its death is recorded", role, state)
			}
		})
		if err != nil || still != 1 {
			t.Errorf("%s: %v, recorded %d times", role, err, still)
		}
		if err := <-s.served; err == nil || !strings.HasPrefix(err.Error(), "signal: killed") {
			t.Errorf("%s: ended by %v", role, err)
		}
		if state := stateOf(t, s.process.PID()); state != "" {
			t.Errorf("%s: state %q after the kill", role, state)
		}
		if err := s.process.Kill(context.Background(), func() { t.Error("a dead process was recorded") }); err == nil {
			t.Errorf("%s: killed twice", role)
		}
	}
}

// TestFreezeStopsTheHeart: nothing comes from a frozen worker, and it goes on after.
func TestFreezeStopsTheHeart(t *testing.T) {
	s, err := setStage(t, context.Background(), "beats")
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	for range 3 {
		if err := s.process.Freeze(ctx); err != nil {
			t.Fatal(err)
		}
		if state := stateOf(t, s.process.PID()); !strings.HasPrefix(state, "T") {
			t.Errorf("state %q of a frozen process", state)
		}
		if err := s.process.Thaw(ctx); err != nil {
			t.Fatal(err)
		}
		before := s.progress.Delivered.Load()
		waitFor(t, "a beat after the thaw", func() bool { return s.progress.Delivered.Load() > before })
	}
}

// TestTheProcessEndsWithItsContext, stopped or not.
func TestTheProcessEndsWithItsContext(t *testing.T) {
	for _, frozen := range []bool{false, true} {
		ctx, cancel := context.WithCancel(context.Background())
		s, err := setStage(t, ctx, "beats")
		if err != nil {
			t.Fatal(err)
		}
		if frozen {
			if err := s.process.Freeze(ctx); err != nil {
				t.Error(err)
			}
		}
		cancel()
		if err := <-s.served; err == nil || !strings.HasPrefix(err.Error(), "signal: killed") {
			t.Errorf("frozen %t: %v", frozen, err)
		}
	}
}

// guard notes what it guards.
type guard struct {
	pid      chan int
	released chan bool
}

func (g *guard) Guard(pid int) (func(), error) {
	g.pid <- pid
	return func() { g.released <- true }, nil
}

func TestAProcessIsGuardedFromBeforeItsJobToItsEnd(t *testing.T) {
	g := &guard{make(chan int, 1), make(chan bool, 1)}
	clk := clock.NewWall(1)
	defer clk.Close()
	s := Spawner{Program: os.Args[0], Args: []string{"play", "exits"}, Clock: clk, Guard: g}
	if _, err := s.Spawn(context.Background(), runner.Seat{Group: "g"}); err == nil {
		t.Error("a worker that exits was started")
	}
	if pid := <-g.pid; pid <= 0 || !<-g.released {
		t.Errorf("guarded %d", pid)
	}
}

// TestEnvironmentKeepsSecrets: what a client library may need is passed on, nothing else.
func TestEnvironmentKeepsSecrets(t *testing.T) {
	t.Setenv("HARNESS_KAFKA_PASSWORD", "secret")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("LANG", "C")
	env := environment()
	if !slices.Contains(env, "LANG=C") || slices.ContainsFunc(env, func(v string) bool { return strings.Contains(v, "secret") }) {
		t.Error(env)
	}
}

// stateOf is what ps says of a process; nothing of one that is gone or was reaped.
func stateOf(t *testing.T, pid int) string {
	t.Helper()
	if syscall.Kill(pid, 0) != nil {
		return ""
	}
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// waitFor waits for what another process does; the limit is for a broken one alone.
func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	for limit := time.Now().Add(30 * time.Second); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("in vain: " + what)
		}
	}
}
