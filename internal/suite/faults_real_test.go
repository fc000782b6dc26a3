// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/internal/catalog"
	"github.com/seed-720a3c77/harness/internal/testenv"
	"github.com/seed-720a3c77/harness/msg"
	"github.com/seed-720a3c77/harness/provision/native"
	"github.com/seed-720a3c77/harness/runner"
	"github.com/seed-720a3c77/harness/workloads"
)

// brokersUnderTest are the three real ones.
var brokersUnderTest = []string{"kafka", "sqs", "rabbitmq"}

// TestUnknownAnswersOnBrokers: twenty publishes whose answers were dropped are recovered,
// and stored twice exactly where they were sent again; settlements whose answers were
// dropped are neither lost nor done again without a cause. Effects that a busy machine's
// rebalance or lease has done again are no copies.
func TestUnknownAnswersOnBrokers(t *testing.T) {
	for _, engine := range brokersUnderTest {
		t.Run(engine, func(t *testing.T) {
			for variant, want := range map[string]map[string]int64{
				"publish":        {"unknown": 20, "recovered": 20, "stored-twice": 0, "effect-duplicates.producer-copy": 0},
				"publish-resent": {"unknown": 0, "stored-twice": 20, "effect-duplicates.producer-copy": 20},
				"settle":         {"unknown": 0, "stored-twice": 0},
			} {
				r := onBroker(t, "unknown-answers", variant, engine)
				happened(t, r)
				counted(t, r, want)
				counted(t, r, map[string]int64{"lost": 0, "phantom": 0, "unexplained": 0})
			}
		})
	}
}

// TestFaultsOnOwnBrokers: what an external broker does not allow, on brokers of the test's
// own. They take up each other's time, not each other's state.
func TestFaultsOnOwnBrokers(t *testing.T) {
	testenv.Short(t, "starts brokers")
	for _, engine := range brokersUnderTest {
		t.Run(engine, func(t *testing.T) {
			own := ownBroker(t, engine)
			t.Parallel()
			for _, how := range map[string][]string{"kafka": {"killed"}, "rabbitmq": {"killed"}, "sqs": {"paused", "cut"}}[engine] {
				t.Run(how, func(t *testing.T) { comesBack(t, own.run(t, away, how)) })
			}
			if engine == "rabbitmq" {
				t.Run("alarmed", func(t *testing.T) { isBlocked(t, own.runUntilHealed(t, alarmed)) })
			}
			t.Run("late", func(t *testing.T) { isLate(t, own.run(t, pairs, "")) })
			t.Run("held", func(t *testing.T) { isSilent(t, own.run(t, silent, "held")) })
			t.Run("lost", func(t *testing.T) { isSilent(t, own.run(t, silent, "lost")) })
		})
	}
}

// away: RabbitMQ 3.10 may lose a quorum queue for good that was declared just before it was
// killed, so that the broker dies late: after the first message, which takes three seconds, and
// in the midst of a batch, so that messages are with the worker then.
const away = `
name: away
about: The broker is away under load and comes back.
variants:
  how:
    killed: {timeline: [{at: {worker: billing, point: mid-batch}, do: broker-kill, for: 500ms}]}
    paused: {timeline: [{at: {worker: billing, point: mid-batch}, do: broker-pause, for: 2s}]}
    cut: {timeline: [{at: {worker: billing, point: mid-batch}, do: link-cut, target: all, for: 1s}]}
topology:
  orders: {partitions: 2, lease: 75s}
produce:
  - {to: orders, count: 1000, rate: 200/s, keys: 50, acks: all, confirms: "on", timeout: 45s, on-error: resend, resends: 1000}
consume:
  - {from: orders, group: billing, workers: 1, batch: 10, settle: {when: after-batch}, handler: {takes: 6ms, script: [{id: p0/0, do: delay, for: 3s}]}, effect: plain}
claims: at-least-once
expect:
  any: {lost: 0, unexplained: 0}
`

// comesBack: nothing is lost or unexplained, and the recovery card is filled in.
func comesBack(t *testing.T, r *ownRun) {
	passed(t, r.Result)
	happened(t, r.Result)
	counted(t, r.Result, map[string]int64{"lost": 0, "unexplained": 0, "phantom": 0})
	f := r.Faults[0]
	for field, ns := range map[string]int64{
		"first success": f.FirstSuccessNs, "first success after the heal": f.BackNs, "silence": f.SilenceNs,
		"rate before": f.RateBefore, "unsettled": f.Unsettled, "lag peak": f.LagPeak,
	} {
		if ns < 0 {
			t.Errorf("%s was not measured: %+v", field, f)
		}
	}
	if f.Name != "broker-pause" && f.DetectionNs < 0 {
		t.Errorf("nobody noticed: %+v", f)
	}
	t.Logf("%+v", f)
}

// alarmed has a load that lasts as long as the broker's control program takes: it is ended
// when the alarm is over.
const alarmed = `
name: alarmed
about: The broker blocks its publishers under load and lets them go on.
topology: {orders: {lease: 150s}}
produce: [{to: orders, count: 200000, rate: 200/s, keys: 50, acks: all, confirms: "on", timeout: 3h}]
consume: [{from: orders, group: billing, workers: 2, batch: 10, settle: {when: after-batch}, handler: {takes: 1ms}, effect: plain}]
timeline: [{at: 200ms, do: alarm, for: 1s}]
claims: at-least-once
`

// isBlocked: the publisher is told to wait, and that it may go on; nothing is sent twice.
func isBlocked(t *testing.T, r *ownRun) {
	happened(t, r.Result)
	counted(t, r.Result, map[string]int64{"lost": 0, "unknown": 0, "redelivered": 0, "stored-twice": 0})
	for _, kind := range []history.Kind{history.Blocked, history.Unblocked} {
		told := 0
		r.each(t, kind, func(*history.Event) { told++ })
		if told == 0 {
			t.Errorf("no publisher was told that it is %v", kind)
		}
	}
}

// pairs has five stretches without and five with a latency, in turn.
const pairs = `
name: pairs
about: The way back from the broker is late and is not, in turn.
topology:
  orders: {partitions: 2, lease: 45s}
produce:
  - {to: orders, count: 170, rate: 25/s, keys: 50, acks: all, confirms: "on"}
consume:
  - {from: orders, group: billing, workers: 1, batch: 10, settle: {when: after-batch}, handler: {takes: 50ms}, effect: plain}
timeline:
  - {at: 1s, do: link-latency, target: producers, way: down, latency: 100ms, for: 600ms, repeat: {every: 1200ms, times: 5}}
claims: at-least-once
expect:
  any: {lost: 0}
`

// isLate: no answer is faster than its way, and without the latency at least one is. How much
// the median has grown depends on what else the machine does, and is told.
func isLate(t *testing.T, r *ownRun) {
	passed(t, r.Result)
	const latency = 100 * time.Millisecond
	var without, with, grown []time.Duration
	before := int64(0)
	for _, f := range r.Faults {
		a, b := r.answers(t, before+int64(latency), f.ActiveNs-int64(latency)), r.answers(t, f.ActiveNs, f.HealedNs-2*int64(latency))
		without, with, before = append(without, a...), append(with, b...), f.HealedNs
		if len(a) > 0 && len(b) > 0 {
			grown = append(grown, median(b)-median(a))
		}
	}
	t.Logf("the median answer grew by %s", grown)
	if len(without) == 0 || len(with) == 0 {
		t.Fatalf("%d answers without and %d with the latency", len(without), len(with))
	}
	if slow, fast := slices.Min(with), slices.Min(without); slow < latency || fast >= latency {
		t.Errorf("the fastest answer took %s without and %s with the latency", fast, slow)
	}
}

// answers are how long the publishes took that began in [from, to), in order.
func (r *ownRun) answers(t *testing.T, from, to int64) (took []time.Duration) {
	t.Helper()
	r.each(t, history.PublishAnswer, func(e *history.Event) {
		if began := e.T - e.D; began >= from && began < to && e.Class == contract.OK {
			took = append(took, time.Duration(e.D))
		}
	})
	slices.Sort(took)
	return took
}

func median(all []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

const silent = `
name: silent
about: The link stalls for five seconds, or loses everything for as long.
variants:
  how:
    held: {timeline: [{at: 1s, do: link-hold, target: all, for: 5s}], produce: [{timeout: 150s}], topology: {orders: {lease: 150s}}}
    lost: {timeline: [{at: 1s, do: link-black-hole, target: all, for: 5s}]}
topology:
  orders: {partitions: 2, lease: 45s}
produce:
  - {to: orders, count: 750, rate: 100/s, keys: 50, acks: all, confirms: "on", timeout: 45s, on-error: resend, resends: 100}
consume:
  - {from: orders, group: billing, workers: 2, batch: 10, settle: {when: after-batch}, handler: {takes: 1ms}, effect: plain}
claims: at-least-once
expect:
  any: {lost: 0, unexplained: 0}
`

// isSilent: of what is sent while it lasts nothing comes through before the heal, and what it
// costs beyond that is the way back. What was sent before may still be in a client's hands, for
// as long as the machine takes; whether a message was with a worker is no matter here.
func isSilent(t *testing.T, r *ownRun) {
	happened(t, r.Result)
	counted(t, r.Result, map[string]int64{"lost": 0, "unexplained": 0, "phantom": 0, "undrained": 0})
	const lasts = 5 * time.Second
	f := r.Faults[0]
	began := map[msg.ID]int64{}
	r.each(t, history.PublishStart, func(e *history.Event) {
		if e.Attempt == 1 {
			began[e.ID()] = e.T
		}
	})
	for _, kind := range []history.Kind{history.PublishAnswer, history.Delivery} {
		r.each(t, kind, func(e *history.Event) {
			answered := kind == history.Delivery || e.Class == contract.OK
			if answered && began[e.ID()] > f.ActiveNs && e.T < f.RequestedNs+int64(lasts) {
				t.Errorf("%v of %v came through %s after it was sent", kind, e.ID(), time.Duration(e.T-began[e.ID()]))
			}
		})
	}
	if silence := time.Duration(f.SilenceNs); silence < lasts/2 || f.BackNs < 0 {
		t.Errorf("silence of %s in %+v", silence, f)
	}
	t.Logf("silent for %s, back %s after the heal", time.Duration(f.SilenceNs), time.Duration(f.BackNs))
}

// happened fails where a fault was not seen to be active and healed.
func happened(t *testing.T, r *checkers.Result) {
	t.Helper()
	if len(r.Faults) == 0 {
		t.Errorf("%s %s on %s: no fault", r.Workload, r.Variant, r.Engine)
	}
	for _, f := range r.Faults {
		if f.ActiveNs < f.RequestedNs || f.HealedNs < f.ActiveNs {
			t.Errorf("%s %s on %s: fault %+v", r.Workload, r.Variant, r.Engine, f)
		}
	}
}

func counted(t *testing.T, r *checkers.Result, want map[string]int64) {
	t.Helper()
	for name, n := range want {
		if r.Counts[name] != n {
			t.Errorf("%s %s on %s: %s is %d, want %d", r.Workload, r.Variant, r.Engine, name, r.Counts[name], n)
		}
	}
}

// owned is a broker of a test's own, which may be killed.
type owned struct {
	engine   string
	provider *native.Provider
}

// ownRun is a run on it, with its history.
type ownRun struct {
	*checkers.Result
	dir string
}

// ownBroker starts a broker from what was downloaded for the others.
func ownBroker(t *testing.T, engine string) *owned {
	install, cache := filepath.Join(os.Getenv("HARNESS_CACHE"), "install"), t.TempDir()
	if _, err := os.Stat(filepath.Join(install, engine)); err != nil {
		testenv.Lacks(t, "native", engine+" is not installed in HARNESS_CACHE as a local process")
	}
	if err := os.Symlink(install, filepath.Join(cache, "install")); err != nil {
		t.Fatal(err)
	}
	p := &native.Provider{Cache: cache}
	t.Cleanup(func() {
		if err := p.Down(context.Background(), engine); err != nil {
			t.Error(err)
		}
	})
	return &owned{engine, p}
}

func (o *owned) connect(ctx context.Context, e catalog.Engine) (catalog.Connection, error) {
	at, err := o.provider.Up(ctx, o.engine)
	if err != nil {
		return catalog.Connection{}, err
	}
	engine, err := e.Open(ctx, at)
	return catalog.Connection{Engine: engine, At: at}, err
}

// run runs a variant.
func (o *owned) run(t *testing.T, text, variant string) *ownRun {
	t.Helper()
	return o.ask(t, text, func(r *Request) {
		if variant != "" {
			r.Variants = []string{variant}
		}
	})
}

// runUntilHealed ends the load when the fault of a run was active and is healed.
func (o *owned) runUntilHealed(t *testing.T, text string) *ownRun {
	t.Helper()
	return o.ask(t, text, func(r *Request) {
		r.Stop = new(atomic.Bool)
		r.Watch = untilHealed{r.Stop, make(chan struct{})}
	})
}

// untilHealed stops a run when its fault is over.
type untilHealed struct {
	stop  *atomic.Bool
	ended chan struct{}
}

// Begin implements Watch.
func (u untilHealed) Begin(_ Cell, p *runner.Progress) {
	go func() {
		for struck := false; !struck || p.Fault() != ""; struck = struck || p.Fault() != "" {
			select {
			case <-u.ended:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
		u.stop.Store(true)
	}()
}

// End implements Watch.
func (u untilHealed) End(Cell, *checkers.Result, *checkers.NotRun) { close(u.ended) }

// ask runs a workload on the broker.
func (o *owned) ask(t *testing.T, text string, change func(*Request)) *ownRun {
	t.Helper()
	doc, err := workloads.Parse("own.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	engines, err := catalog.FindAll(o.engine)
	if err != nil {
		t.Fatal(err)
	}
	request := Request{Workloads: []*workloads.Document{doc}, Engines: engines, Out: filepath.Join(t.TempDir(), "suite"), Connect: o.connect}
	change(&request)
	results, err := Run(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	if len(results.Runs) != 1 {
		t.Fatalf("%d runs, want 1; not run: %+v", len(results.Runs), results.NotRun)
	}
	r := &results.Runs[0]
	return &ownRun{r, filepath.Join(request.Out, r.Dir)}
}

func passed(t *testing.T, r *checkers.Result) {
	t.Helper()
	if code := checkers.ExitCode(*r); code != checkers.ExitPass {
		t.Errorf("%s %s on %s: %s, exit %d: %s", r.Workload, r.Variant, r.Engine, r.Verdict, code, r.Sentence)
	}
}

// each visits the events of a kind.
func (r *ownRun) each(t *testing.T, kind history.Kind, visit func(*history.Event)) {
	t.Helper()
	run, err := history.Open(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Each(history.Only(kind), visit); err != nil {
		t.Fatal(err)
	}
}
