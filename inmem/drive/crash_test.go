// SPDX-License-Identifier: Apache-2.0

package drive

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/contract/profiles"
	"github.com/seed-720a3c77/harness/msg"
)

// ledger is what workers did with a run's messages, in the order of the clock.
type ledger struct {
	mu    sync.Mutex // on Wall notices come beside the worker's own code
	lines []string
}

func (l *ledger) add(clk clock.Clock, format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf("%v ", clk.Now())+fmt.Sprintf(format, args...))
}

// handled counts the handler runs of each message.
func (l *ledger) handled() map[string]int {
	n := map[string]int{}
	for _, line := range l.lines {
		if _, id, ok := strings.Cut(line, "handled "); ok {
			n[id]++
		}
	}
	return n
}

func (l *ledger) runs(times int) (n int) {
	for _, runs := range l.handled() {
		if runs == times {
			n++
		}
	}
	return n
}

// worker receives, handles for a while and settles each, until it is done or dead.
type worker struct {
	name    string
	batch   int
	takes   time.Duration
	session time.Duration
	settle  broker.Verb
	// idle ends it after so many empty polls, total after so many settlements.
	idle, total int
	// at is called before the n-th settlement of the worker, from 1.
	at func(n int)
}

func (w worker) work(ctx context.Context, e *Engine, clk clock.Clock, l *ledger, made func(broker.Consumer)) {
	c, err := e.Consumer(ctx, broker.ConsumerSpec{
		Name: w.name, From: "q", Group: "g", Batch: w.batch, Session: w.session,
		Notify: func(n broker.Notice) { l.add(clk, "%s notice %d %s", w.name, n.Kind, n.Code) },
	})
	must(err)
	made(c)
	into := make([]broker.Delivery, w.batch)
	settled := 0
	for empty := 0; empty < w.idle && (w.total == 0 || settled < w.total); {
		n, err := c.Receive(ctx, into, time.Second)
		if err != nil {
			l.add(clk, "%s died: %v", w.name, err)
			return
		}
		empty++
		for i := range n {
			empty = 0
			must(clk.Sleep(ctx, w.takes))
			l.add(clk, "%s handled %v", w.name, into[i].ID)
			settled++
			if w.at != nil {
				w.at(settled)
			}
			results := []error{nil}
			c.Settle(ctx, []broker.Settlement{{Verb: w.settle, Token: into[i].Token}}, results)
			if results[0] != nil {
				l.add(clk, "%s settle refused: %v", w.name, errors.Is(results[0], broker.ErrStale))
			}
		}
	}
	must(c.Close(ctx))
}

func verbOf(e *Engine) broker.Verb {
	if e.Profile().Product == "kafka" {
		return broker.Commit
	}
	return broker.Ack
}

func send(ctx context.Context, e *Engine, n int) {
	p, err := e.Producer(ctx, broker.ProducerSpec{Name: "p"})
	must(err)
	for i := range n {
		must(p.Publish(ctx, message("q", uint64(i), "k"+fmt.Sprint(i%7)), func(_ broker.Receipt, err error) { must(err) }))
	}
	must(p.Close(ctx))
}

// jitter makes seeds differ.
var jitter = Options{
	Publish: Latency{Jitter: time.Millisecond},
	Receive: Latency{Jitter: time.Millisecond},
	Settle:  Latency{Jitter: time.Millisecond},
}

// crashRun kills one of two workers in front of its 50th settlement of 200 messages.
func crashRun(seed uint64, profile string, opts Options) (*ledger, error) {
	v := clock.NewVirtual(seed)
	defer v.Close()
	l := &ledger{}
	p, err := profiles.Named(profile)
	if err != nil {
		return nil, err
	}
	e := New(v, p, opts)
	err = v.Run("main", func(ctx context.Context) {
		lease := time.Duration(0)
		if p.Product == "sqs" {
			lease = 30 * time.Second
		}
		declare(ctx, e, broker.Destination{Name: "q", Partitions: 2 * partitions(p.Product), Lease: lease})
		send(ctx, e, 200)
		var victim clock.Task
		var consumer broker.Consumer
		first := worker{name: "w1", batch: 10, takes: 10 * time.Millisecond, settle: verbOf(e), idle: 40, at: func(n int) {
			if n == 50 {
				consumer.Abandon()
				victim.Kill()
			}
		}}
		second := worker{name: "w2", batch: 10, takes: 10 * time.Millisecond, settle: verbOf(e), idle: 40}
		victim = v.Go(ctx, "w1", func(ctx context.Context) {
			first.work(ctx, e, v, l, func(c broker.Consumer) { consumer = c })
		})
		survivor := v.Go(ctx, "w2", func(ctx context.Context) { second.work(ctx, e, v, l, func(broker.Consumer) {}) })
		must(survivor.Join(ctx))
	})
	return l, err
}

func partitions(product string) int {
	if product == "kafka" {
		return 1
	}
	return 0
}

// TestCrashLosesNothing: all are handled, and again only what the dead one held.
func TestCrashLosesNothing(t *testing.T) {
	for _, profile := range []string{"kafka", "sqs", "sqs-fifo", "localstack", "rabbitmq", "rabbitmq-3.10-classic"} {
		t.Run(profile, func(t *testing.T) {
			for seed := range uint64(20) {
				l, err := crashRun(seed, profile, jitter)
				if err != nil {
					t.Fatal(err)
				}
				if got := len(l.handled()); got != 200 {
					t.Errorf("seed %d: %d of 200 were handled", seed, got)
				}
				if again := l.runs(2); again > 20 || l.runs(1)+again != 200 {
					t.Errorf("seed %d: %d once, %d twice", seed, l.runs(1), again)
				}
			}
		})
	}
}

// TestDeterminism: the same seed is the same run, other seeds are others.
func TestDeterminism(t *testing.T) {
	for _, profile := range []string{"kafka", "sqs", "rabbitmq"} {
		t.Run(profile, func(t *testing.T) {
			different := map[string]bool{}
			for seed := range uint64(10) {
				first, err1 := crashRun(seed, profile, jitter)
				second, err2 := crashRun(seed, profile, jitter)
				if err := errors.Join(err1, err2); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(first.lines, second.lines) {
					t.Fatalf("seed %d: two runs differ", seed)
				}
				different[strings.Join(first.lines, "\n")] = true
			}
			if len(different) < 9 {
				t.Errorf("%d different runs of 10 seeds", len(different))
			}
		})
	}
}

// TestFreeze: a worker that is frozen for longer than its session or lease does its work
// again as a zombie, and learns it.
func TestFreeze(t *testing.T) {
	for profile, want := range map[string]string{
		"kafka": "settle refused: true", "rabbitmq": "died", "sqs-fifo": "", "localstack": "",
	} {
		t.Run(profile, func(t *testing.T) {
			l := &ledger{}
			onVirtual(t, 3, func(ctx context.Context, v *clock.Virtual) {
				e := New(v, profileOf(t, profile), Options{})
				declare(ctx, e, broker.Destination{Name: "q"})
				send(ctx, e, 3)
				// It is frozen in its first handler; the default lease is 30 s.
				frozen := v.Go(ctx, "w1", func(ctx context.Context) {
					worker{name: "w1", batch: 3, takes: time.Second, settle: verbOf(e), idle: 3}.work(ctx, e, v, l, func(broker.Consumer) {})
				})
				must(v.Sleep(ctx, 500*time.Millisecond))
				frozen.Freeze()
				other := v.Go(ctx, "w2", func(ctx context.Context) {
					worker{name: "w2", batch: 3, takes: time.Second, settle: verbOf(e), idle: 50}.work(ctx, e, v, l, func(broker.Consumer) {})
				})
				must(v.Sleep(ctx, 45*time.Second))
				frozen.Thaw()
				must(frozen.Join(ctx))
				must(other.Join(ctx))
			})
			if got := strings.Join(l.lines, "\n"); !strings.Contains(got, want) || l.handled()["p1/0"] != 2 {
				t.Errorf("want %q and p1/0 handled twice:\n%s", want, got)
			}
		})
	}
}

// TestKilledWithoutAbandon: the broker finds out by itself.
func TestKilledWithoutAbandon(t *testing.T) {
	for _, profile := range []string{"kafka", "sqs", "rabbitmq"} {
		l := &ledger{}
		onVirtual(t, 3, func(ctx context.Context, v *clock.Virtual) {
			e := New(v, profileOf(t, profile), Options{})
			declare(ctx, e, broker.Destination{Name: "q"})
			send(ctx, e, 5)
			dead := v.Go(ctx, "w1", func(ctx context.Context) {
				worker{name: "w1", batch: 5, takes: time.Hour, settle: verbOf(e), idle: 3}.work(ctx, e, v, l, func(broker.Consumer) {})
			})
			must(v.Sleep(ctx, time.Second))
			dead.Kill()
			worker{name: "w2", batch: 5, takes: time.Second, settle: verbOf(e), idle: 60}.work(ctx, e, v, l, func(broker.Consumer) {})
		})
		if got := len(l.handled()); got != 5 {
			t.Errorf("%s: %d of 5 were handled", profile, got)
		}
	}
}

// TestAbandonedProducer: what has left arrives, what lingers does not, and nobody hears.
func TestAbandonedProducer(t *testing.T) {
	onVirtual(t, 1, func(ctx context.Context, v *clock.Virtual) {
		e := New(v, profileOf(t, "kafka"), Options{Publish: Latency{Base: time.Second}})
		declare(ctx, e, broker.Destination{Name: "q"})
		p, err := e.Producer(ctx, broker.ProducerSpec{Name: "p", Linger: time.Minute, BatchMax: 2})
		must(err)
		answers := 0
		for i := range uint64(3) {
			must(p.Publish(ctx, message("q", i, "k"), func(broker.Receipt, error) { answers++ }))
		}
		p.Abandon()
		must(v.Sleep(ctx, time.Hour))
		d, err := e.Depth(ctx, "q", "")
		must(err)
		if d.End != 2 || answers != 0 {
			t.Errorf("%d stored and %d answers, want 2 and none", d.End, answers)
		}
	})
}

// TestLostAnswers: the client's own attempts store copies, unless it is idempotent.
func TestLostAnswers(t *testing.T) {
	for _, c := range []struct {
		name       string
		idempotent bool
		retries    int
		fates      []Fate
		stored     int64
		copies     int
		ok         bool
	}{
		{"answer lost once", false, 3, []Fate{AnswerLost}, 2, 2, true},
		{"request lost once", false, 3, []Fate{RequestLost}, 1, 2, true},
		{"answer lost once, idempotent", true, 3, []Fate{AnswerLost}, 1, 2, true},
		{"answers lost for good", false, 1, []Fate{AnswerLost, AnswerLost}, 2, 2, false},
		{"request lost for good", false, 0, []Fate{RequestLost}, 0, 1, false},
		{"answer lost for good, idempotent", true, 1, []Fate{AnswerLost, AnswerLost}, 1, 2, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			onVirtual(t, 1, func(ctx context.Context, v *clock.Virtual) {
				e := New(v, profileOf(t, "kafka"), Options{Wire: func(a Attempt) Fate {
					if a.ID != (msg.ID{Producer: 1, Seq: 0}) || a.Number > len(c.fates) {
						return Arrives
					}
					return c.fates[a.Number-1]
				}})
				declare(ctx, e, broker.Destination{Name: "q"})
				p, err := e.Producer(ctx, broker.ProducerSpec{Name: "p", Idempotent: c.idempotent, Retries: c.retries, Timeout: time.Second})
				must(err)
				var got error
				var receipt broker.Receipt
				must(p.Publish(ctx, message("q", 0, "k"), func(r broker.Receipt, err error) { receipt, got = r, err }))
				must(p.Publish(ctx, message("q", 1, "k"), func(_ broker.Receipt, err error) { must(err) }))
				must(p.Close(ctx))
				d, err := e.Depth(ctx, "q", "")
				must(err)
				if d.End != c.stored+1 || receipt.Copies != c.copies || (got == nil) != c.ok {
					t.Errorf("stored %d, copies %d, error %v; want %d, %d, ok %t", d.End-1, receipt.Copies, got, c.stored, c.copies, c.ok)
				}
				if !c.ok && !errors.Is(got, context.DeadlineExceeded) {
					t.Errorf("error %v, want a timeout", got)
				}
			})
		})
	}
}

// TestIdempotentKeepsOrder, while a lost answer lets others overtake.
func TestIdempotentKeepsOrder(t *testing.T) {
	for _, idempotent := range []bool{false, true} {
		var order []uint64
		onVirtual(t, 1, func(ctx context.Context, v *clock.Virtual) {
			e := New(v, profileOf(t, "kafka"), Options{Wire: func(a Attempt) Fate {
				if a.ID.Seq == 1 && a.Number == 1 {
					return RequestLost
				}
				return Arrives
			}})
			declare(ctx, e, broker.Destination{Name: "q"})
			p, err := e.Producer(ctx, broker.ProducerSpec{Name: "p", Idempotent: idempotent, Retries: 1, Timeout: time.Second})
			must(err)
			for i := range uint64(4) {
				must(p.Publish(ctx, message("q", i, "k"), func(_ broker.Receipt, err error) { must(err) }))
			}
			must(p.Close(ctx))
			c, err := e.Consumer(ctx, broker.ConsumerSpec{Name: "audit", From: "q", Batch: 9})
			must(err)
			into := make([]broker.Delivery, 9)
			n, err := c.Receive(ctx, into, time.Second)
			must(err)
			for _, d := range into[:n] {
				order = append(order, d.ID.Seq)
			}
		})
		want := []uint64{0, 2, 3, 1}
		if idempotent {
			want = []uint64{0, 1, 2, 3}
		}
		if !slices.Equal(order, want) {
			t.Errorf("idempotent %t: stored %v, want %v", idempotent, order, want)
		}
	}
}

// TestWall does the crash run's work on real time, in short.
func TestWall(t *testing.T) {
	for _, profile := range []string{"sqs", "rabbitmq"} {
		w := clock.NewWall(1)
		l := &ledger{}
		err := w.Run("main", func(ctx context.Context) {
			e := New(w, profileOf(t, profile), Options{Publish: Latency{Jitter: 100 * time.Microsecond}})
			declare(ctx, e, broker.Destination{Name: "q"})
			send(ctx, e, 300)
			worker{name: "w1", batch: 10, settle: verbOf(e), idle: 1, total: 300}.work(ctx, e, w, l, func(broker.Consumer) {})
			must(e.Close(ctx))
		})
		w.Close()
		if err != nil {
			t.Fatal(err)
		}
		if l.runs(1) != 300 {
			t.Errorf("%s: %d of 300 handled once", profile, l.runs(1))
		}
	}
}
