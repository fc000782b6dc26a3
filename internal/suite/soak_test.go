// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package suite

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/internal/catalog"
	"github.com/seed-720a3c77/harness/internal/testenv"
	"github.com/seed-720a3c77/harness/msg"
	"github.com/seed-720a3c77/harness/runner/process"
	"github.com/seed-720a3c77/harness/workloads"
)

// asWorker makes the test binary the worker of a run.
const asWorker = "soak-worker"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == asWorker {
		child := process.Child{
			In: os.Stdin, Out: os.NewFile(process.Up, "up"), Open: catalog.OpenPassed, Faults: catalog.Faults(),
			Orphaned: func() { os.Exit(3) },
		}
		if child.Run(context.Background()) != nil {
			os.Exit(3)
		}
		return
	}
	os.Exit(m.Run())
}

// The kills of a soak on each broker. A run of kill-soak has 36.
const (
	killsInCI   = 30
	killsOfSoak = 200
)

// TestRandomKillsOfWorkers: workers die by SIGKILL at random times. What was settled after
// the work is never lost and comes again only where a session ended with it; what was settled
// before it is lost only where a worker was killed with it in hand. The history is counted here once more, by
// other rules than the checkers'.
func TestRandomKillsOfWorkers(t *testing.T) {
	testenv.Short(t, "minutes of real brokers")
	for _, engine := range []string{"kafka", "sqs", "rabbitmq"} {
		t.Run(engine, func(t *testing.T) {
			testenv.Broker(t, engine)
			t.Parallel()
			var both sync.WaitGroup
			for _, variant := range []string{"after-batch", "before-handler"} {
				both.Go(func() { killWorkers(t, engine, variant) })
			}
			both.Wait()
		})
	}
}

// killWorkers repeats a variant with other seeds until enough workers were killed.
func killWorkers(t *testing.T, engine, variant string) {
	want := killsInCI
	if testenv.Soaking() {
		want = killsOfSoak
	}
	var all tally
	for seed := uint64(1); all.kills < want; seed++ {
		before := all.kills
		killSoak(t, engine, variant, seed, &all)
		if all.kills-before < killsInCI {
			t.Errorf("%s %s, seed %d: %d kills, want %d", engine, variant, seed, all.kills-before, killsInCI)
			return
		}
	}
	t.Logf("%s %s: %d kills, %d in hand, lost %s, %d extra deliveries, of which without a cause %s",
		engine, variant, all.kills, all.inHand, bounded(all.lost, all.kills), all.extra, bounded(all.unexplained, all.kills))
}

// killSoak runs a variant once, compares the verdict with a count of its own and adds it.
func killSoak(t *testing.T, engine, variant string, seed uint64, all *tally) {
	out := filepath.Join(t.TempDir(), "suite")
	r, err := runSoak(engine, variant, seed, out)
	if err != nil {
		t.Errorf("%s %s, seed %d: %v", engine, variant, seed, err)
		return
	}
	run, err := history.Open(filepath.Join(out, r.Dir))
	if err != nil {
		t.Error(err)
		return
	}
	one := recount{seen: map[msg.ID]*seen{}, hands: map[uint32][]*held{}}
	if err := run.Each(history.AllKinds, one.take); err != nil {
		t.Error(err)
		return
	}
	found := one.sum(variant == "before-handler")
	if checkers.ExitCode(*r) != checkers.ExitPass || found.unexplained != 0 || int64(found.lost) != r.Counts["lost"] {
		t.Errorf("%s %s, seed %d: %s: %s\nlost %d, recounted %d; extra deliveries without a cause: %d",
			engine, variant, seed, r.Verdict, r.Sentence, r.Counts["lost"], found.lost, found.unexplained)
	}
	if found.wrongly != 0 {
		t.Errorf("%s %s, seed %d: %d lost that no killed worker had in hand", engine, variant, seed, found.wrongly)
	}
	all.add(found)
}

func runSoak(engine, variant string, seed uint64, out string) (*checkers.Result, error) {
	engines, err := catalog.FindAll(engine)
	if err != nil {
		return nil, err
	}
	doc, err := workloads.Find("kill-soak")
	if err != nil {
		return nil, err
	}
	brokers, err := catalog.NewBrokers(catalog.Providing{Only: "external"})
	if err != nil {
		return nil, err
	}
	results, err := Run(context.Background(), Request{
		Workloads: []*workloads.Document{doc}, Variants: []string{variant}, Engines: engines, Seed: seed,
		Out: out, Connect: brokers.Connect, Worker: []string{os.Args[0], asWorker},
	})
	if err != nil {
		return nil, err
	}
	return &results.Runs[0], nil
}

// tally is what a soak found.
type tally struct {
	kills, inHand, lost, extra, unexplained int
	// wrongly were lost by nobody's death.
	wrongly int
}

func (t *tally) add(one tally) {
	t.kills += one.kills
	t.inHand += one.inHand
	t.lost += one.lost
	t.extra += one.extra
	t.unexplained += one.unexplained
}

// recount follows each message of a run: who had it, and what became of it.
type recount struct {
	seen map[msg.ID]*seen
	// hands are what each session got, in order.
	hands map[uint32][]*held
	tally
}

// seen is what is known of a message.
type seen struct {
	acked, done bool
	// open: an effect began, and its worker died before anybody could know of its result.
	open      bool
	delivered int
	// excused are the extra deliveries that ends of sessions can cause.
	excused int
	// orphaned: a worker died between its delivery and its effect.
	orphaned bool
}

// held is a delivery.
type held struct {
	op      uint32
	message *seen
	settled bool // for certain
	excused bool
}

func (c *recount) of(e *history.Event) *seen {
	if c.seen[e.ID()] == nil {
		c.seen[e.ID()] = new(seen)
	}
	return c.seen[e.ID()]
}

func (c *recount) take(e *history.Event) {
	switch e.Kind {
	case history.PublishAnswer:
		if e.Class == contract.OK {
			c.of(e).acked = true
		}
	case history.Delivery:
		c.delivered(e)
	case history.EffectIntent:
		c.of(e).open = true
	case history.EffectResult:
		c.of(e).done, c.of(e).open = true, false
	case history.SettleAnswer:
		c.settled(e)
	case history.SessionClose, history.Revoke:
		c.ended(e.Session, e.Has(history.Crashed))
	case history.WorkerEnd:
		if e.Has(history.Crashed) {
			c.kills++
		}
	}
}

func (c *recount) delivered(e *history.Event) {
	m := c.of(e)
	if m.delivered++; m.delivered > 1 {
		c.extra++
		if m.excused--; m.excused < 0 {
			c.unexplained++
		}
	}
	c.hands[e.Session] = append(c.hands[e.Session], &held{op: e.Op, message: m})
}

// settled: an acked message is settled, and with a commit everything before it.
func (c *recount) settled(e *history.Event) {
	if e.Class != contract.OK {
		return
	}
	for _, h := range c.hands[e.Session] {
		if h.op == e.Op || e.Verb == history.VerbCommit && h.op < e.Op {
			h.settled = true
		}
	}
}

// ended: what a session held and had not settled for certain may come once more. What its
// worker had not done when it was killed may never be.
func (c *recount) ended(session uint32, killed bool) {
	for _, h := range c.hands[session] {
		if !h.settled && !h.excused {
			h.excused = true
			h.message.excused++
		}
		if killed && !h.message.done {
			h.message.orphaned = true
			c.inHand++
		}
	}
}

// sum counts what is lost. Only what was settled before the work may be, and of that only
// what a worker died with.
func (c *recount) sum(before bool) tally {
	for _, m := range c.seen {
		if !m.acked || m.done || m.open {
			continue
		}
		c.lost++
		if !before || !m.orphaned {
			c.wrongly++
		}
	}
	return c.tally
}

// TestRandomKillsOnTheModel: the same storm on virtual time, where a run takes moments.
func TestRandomKillsOnTheModel(t *testing.T) {
	engines, err := catalog.FindAll(catalog.DefaultOn)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := workloads.Find("kill-soak")
	if err != nil {
		t.Fatal(err)
	}
	s := &Soak{Request: Request{
		Workloads: []*workloads.Document{doc}, Engines: engines, Seed: 1, Out: filepath.Join(t.TempDir(), "soak"),
	}, Times: 2, StopOnViolation: true}
	if _, err := s.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	for name, c := range s.cells {
		after := strings.Contains(name, "after-batch")
		if c.runs != 2 || c.violated+c.inconclusive != 0 || c.faults != 72 || c.unexplained != 0 || after == (c.lost > 0) {
			t.Errorf("%s: %d runs, %d violated, %d inconclusive, %d kills, lost %d, unexplained %d",
				name, c.runs, c.violated, c.inconclusive, c.faults, c.lost, c.unexplained)
		}
	}
}
