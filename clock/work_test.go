// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"context"
	"fmt"
	"hash/fnv"
	"sync"
	"testing"
	"time"
)

// ledger is what became of the messages of one run of produceAndWork.
type ledger struct {
	handled map[int]int // message to times
	hash    uint64      // of who handled what, and when
}

const (
	messages   = 60
	partitions = 2
	// redone is the tenth message of partition 0, handled but not yet settled when its
	// worker is killed.
	redone = 9 * partitions
)

// produceAndWork puts messages through a log with a worker for each partition, which
// settles after it has handled. Worker 0 is killed in between, at its tenth message, and
// started again.
func produceAndWork(t *testing.T, c runner, jitter bool) ledger {
	t.Helper()
	defer c.Close()
	w := &work{c: c, jitter: jitter, handled: map[int]int{}, arrived: c.NewGate("log"), tenth: c.NewGate("tenth")}
	run(t, c, w.main)
	hash := fnv.New64a()
	fmt.Fprint(hash, w.trace)
	return ledger{w.handled, hash.Sum64()}
}

type work struct {
	c       runner
	jitter  bool
	arrived Gate
	tenth   Gate

	mu        sync.Mutex // never held across a wait
	log       [partitions][]int
	committed [partitions]int
	handled   map[int]int
	trace     []string
}

func (w *work) main(ctx context.Context) {
	tasks := []Task{w.c.Go(ctx, "producer", w.produce), w.c.Go(ctx, "worker/1", w.worker(1))}
	first := w.c.Go(ctx, "worker/0", w.worker(0))
	w.tenth.Wait(ctx, 0)
	first.Kill()
	first.Join(ctx)
	tasks = append(tasks, w.c.Go(ctx, "worker/0", w.worker(0)))
	join(ctx, tasks...)
}

// latency returns durations that depend on seed and name if there is to be jitter.
func (w *work) latency(name string) func(base time.Duration) time.Duration {
	r := w.c.Rand(name)
	return func(base time.Duration) time.Duration {
		if !w.jitter {
			return base
		}
		return base + time.Duration(r.Int64N(int64(base)))
	}
}

func (w *work) produce(ctx context.Context) {
	latency := w.latency("producer")
	for id := range messages {
		w.c.Sleep(ctx, latency(10*time.Millisecond))
		w.append(id)
		w.arrived.Wake()
	}
}

func (w *work) append(id int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := id % partitions
	w.log[p] = append(w.log[p], id)
}

func (w *work) worker(p int) func(context.Context) {
	return func(ctx context.Context) {
		latency := w.latency(fmt.Sprint("worker/", p))
		for range messages {
			id, ok := w.receive(ctx, p)
			if !ok {
				return
			}
			w.c.Sleep(ctx, latency(5*time.Millisecond))
			w.handle(p, id)
			w.c.Sleep(ctx, latency(time.Millisecond))
			w.c.Check(ctx)
			w.settle(p)
		}
	}
}

// receive waits for the next message of the partition; false at its end.
func (w *work) receive(ctx context.Context, p int) (int, bool) {
	for {
		ticket := w.arrived.Ticket()
		if id, ok := w.next(p); ok {
			return id, true
		}
		if w.drained(p) || w.arrived.Wait(ctx, ticket) != nil {
			return 0, false
		}
	}
}

func (w *work) next(p int) (int, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if at := w.committed[p]; at < len(w.log[p]) {
		return w.log[p][at], true
	}
	return 0, false
}

func (w *work) drained(p int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.committed[p] == messages/partitions
}

func (w *work) handle(p, id int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.handled[id]++
	w.trace = append(w.trace, fmt.Sprintln(w.c.Now(), p, id))
	if id == redone && w.handled[id] == 1 {
		w.tenth.Wake()
	}
}

func (w *work) settle(p int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.committed[p]++
}
