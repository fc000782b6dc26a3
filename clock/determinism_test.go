// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// A verb is one step of a random program.
type verb struct {
	op     string
	task   int // whom it concerns
	gate   int
	millis int
}

var verbs = []string{"sleep", "wake", "wait", "wait-for", "at", "post", "kill", "freeze", "thaw", "timeout", "rand", "join"}

// program is what each of some tasks does.
type program [][]verb

func drawProgram(t *rapid.T) program {
	one := rapid.Custom(func(t *rapid.T) verb {
		return verb{
			op:     rapid.SampledFrom(verbs).Draw(t, "op"),
			task:   rapid.IntRange(0, 3).Draw(t, "task"),
			gate:   rapid.IntRange(0, 1).Draw(t, "gate"),
			millis: rapid.IntRange(0, 3).Draw(t, "ms"),
		}
	})
	return rapid.SliceOfN(rapid.SliceOfN(one, 0, 8), 1, 4).Draw(t, "program")
}

// trace runs p and writes down what every task sees and when, and how the run ends. No
// code of a dead or frozen task may run meanwhile.
func (p program) trace(t *rapid.T, v *Virtual) []byte {
	defer v.Close()
	r := &programRun{p: p, v: v, t: t, gates: []Gate{v.NewGate("a"), v.NewGate("b")}}
	if err := v.Run("main", r.main); err != nil {
		t.Fatalf("%v\n%s", err, r.log.Bytes())
	}
	fmt.Fprint(&r.log, "end ", v.Now())
	return r.log.Bytes()
}

type programRun struct {
	p     program
	v     *Virtual
	t     *rapid.T
	gates []Gate
	held  [4]bool // dead or frozen
	dead  [4]bool
	tasks []Task
	log   bytes.Buffer
}

func (r *programRun) main(ctx context.Context) {
	for i, steps := range r.p {
		r.tasks = append(r.tasks, r.v.Go(ctx, fmt.Sprint(i), func(ctx context.Context) {
			for _, step := range steps {
				r.do(ctx, i, step)
			}
		}))
	}
	for _, task := range r.tasks {
		under, cancel := r.v.WithTimeout(ctx, time.Second)
		fmt.Fprintln(&r.log, "joined", task.Name(), task.Join(under))
		cancel()
	}
}

func (r *programRun) do(ctx context.Context, self int, s verb) {
	who := s.task % len(r.tasks)
	other, gate := r.tasks[who], r.gates[s.gate]
	d := time.Duration(s.millis) * time.Millisecond
	fired := func() { r.say(self, s.op, "fired") }
	var result any
	switch s.op {
	case "sleep":
		result = r.v.Sleep(ctx, d)
	case "wake":
		gate.Wake()
	case "wait":
		under, cancel := r.v.WithTimeout(ctx, time.Second/2)
		result = gate.Wait(under, gate.Ticket())
		cancel()
	case "wait-for":
		result = gate.WaitFor(ctx, gate.Ticket(), d)
	case "at":
		r.v.At(ctx, r.v.Now()+d, fired)
	case "post":
		r.v.Post(ctx, fired)
	case "kill":
		r.held[who], r.dead[who] = true, true
		other.Kill()
	case "freeze":
		r.held[who] = true
		other.Freeze()
	case "thaw":
		r.held[who] = r.dead[who]
		other.Thaw()
	case "timeout":
		under, cancel := r.v.WithTimeout(ctx, d)
		result = r.v.Sleep(under, 2*time.Millisecond)
		cancel()
	case "rand":
		result = r.v.Rand("x").Uint64()
	case "join":
		under, cancel := r.v.WithTimeout(ctx, d)
		result = other.Join(under)
		cancel()
	}
	r.say(self, s.op, result)
}

func (r *programRun) say(self int, what string, result any) {
	if r.held[self] {
		r.t.Errorf("code of task %d runs after %s, though it is dead or frozen:\n%s", self, what, r.log.Bytes())
	}
	fmt.Fprintln(&r.log, r.v.Now(), self, what, result)
}

// TestSameSeedSameTrace: same seed, same bytes, with and without the fast path.
func TestSameSeedSameTrace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, seed := drawProgram(t), rapid.Uint64().Draw(t, "seed")
		want := p.trace(t, NewVirtual(seed))
		if got := p.trace(t, NewVirtual(seed)); !bytes.Equal(got, want) {
			t.Fatalf("two runs of seed %d differ:\n%s\n--- and ---\n%s", seed, want, got)
		}
		long := NewVirtual(seed)
		long.noSkip = true
		if got := p.trace(t, long); !bytes.Equal(got, want) {
			t.Fatalf("the fast path changes seed %d:\n%s\n--- without ---\n%s", seed, want, got)
		}
	})
}

// TestSeedsDecideTies: three tasks wake at one instant, so there are six orders.
func TestSeedsDecideTies(t *testing.T) {
	orders := map[string]int{}
	for seed := range uint64(600) {
		v := NewVirtual(seed)
		var order string
		run(t, v, func(ctx context.Context) {
			for _, name := range []string{"a", "b", "c"} {
				v.Go(ctx, name, func(ctx context.Context) {
					v.Sleep(ctx, time.Second)
					order += name
				})
			}
			v.Sleep(ctx, time.Minute)
		})
		v.Close()
		orders[order]++
	}
	if len(orders) != 6 {
		t.Errorf("600 seeds gave %v, want all six orders", orders)
	}
}

// TestDeadlineAgainstOperation: a passive engine whose operations apply the deadlines
// before now, and whose timer applies those at now, leaves it to the seed whether a lease
// that ends when the handler does has expired. Applying them in the operation swallows
// the tie.
func TestDeadlineAgainstOperation(t *testing.T) {
	tests := []struct {
		name     string
		swallows bool
		outcomes int
	}{
		{"deadlines before now", false, 2},
		{"deadlines up to now", true, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			seen := map[bool]bool{}
			for seed := range uint64(200) {
				seen[leaseExpires(t, seed, test.swallows)] = true
			}
			if len(seen) != test.outcomes {
				t.Errorf("outcomes %v, want %d of them", seen, test.outcomes)
			}
		})
	}
}

// leaseExpires reports whether a settle at the end of a lease came too late.
func leaseExpires(t *testing.T, seed uint64, swallows bool) (late bool) {
	const lease = 30 * time.Second
	v := NewVirtual(seed)
	defer v.Close()
	expired := false
	run(t, v, func(ctx context.Context) {
		v.At(nil, lease, func() { expired = true })
		v.Sleep(ctx, lease)
		late = expired || swallows && v.Now() >= lease
	})
	return late
}

// TestLatenciesFromStreams: with fixed latencies ties are rare and seeds change little;
// with latencies from seeded streams every seed is a history of its own.
func TestLatenciesFromStreams(t *testing.T) {
	const seeds = 200
	for _, jitter := range []bool{false, true} {
		histories := map[uint64]bool{}
		for seed := range uint64(seeds) {
			l := produceAndWork(t, NewVirtual(seed), jitter)
			histories[l.hash] = true
		}
		if got := len(histories); jitter != (got == seeds) {
			t.Errorf("jitter %v: %d histories of %d seeds", jitter, got, seeds)
		}
	}
}

func TestBothClocksGiveTheSameLedger(t *testing.T) {
	want := map[int]int{}
	for id := range 60 {
		want[id] = 1
	}
	want[redone] = 2
	for _, jitter := range []bool{false, true} {
		virtual := produceAndWork(t, NewVirtual(7), jitter)
		if !maps.Equal(virtual.handled, want) {
			t.Errorf("virtual: handled %v, want %v", virtual.handled, want)
		}
		synctest.Test(t, func(t *testing.T) {
			wall := produceAndWork(t, NewWall(7), jitter)
			if !maps.Equal(wall.handled, want) {
				t.Errorf("wall: handled %v, want %v", wall.handled, want)
			}
		})
	}
}

// TestParallelRuns: clocks share nothing.
func TestParallelRuns(t *testing.T) {
	want := produceAndWork(t, NewVirtual(3), true).hash
	for i := range 4 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			for range 20 {
				if got := produceAndWork(t, NewVirtual(3), true).hash; got != want {
					t.Fatalf("hash %x, want %x", got, want)
				}
			}
		})
	}
}

func TestRandStreams(t *testing.T) {
	v, w := NewVirtual(1), NewWall(1)
	draw := func(c Clock, name string) [4]uint64 {
		r := c.Rand(name)
		return [4]uint64{r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64()}
	}
	if draw(v, "a") != draw(v, "a") || draw(v, "a") != draw(w, "a") {
		t.Error("a stream belongs to seed and name alone")
	}
	seen := map[[4]uint64]bool{}
	for seed := range uint64(100) {
		for _, name := range []string{"", "a", "b", "worker/1", "worker/2"} {
			seen[draw(NewVirtual(seed), name)] = true
		}
	}
	if len(seen) != 500 {
		t.Errorf("%d streams of 500 differ", len(seen))
	}
}
