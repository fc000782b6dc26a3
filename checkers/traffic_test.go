// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

// traffic makes an endless history as the recorder writes it: two producers, two
// partitions or one queue, two workers with batches of 100, a thousand keys, eight events
// a message and a commit a batch, or ten a message on a queue.
type traffic struct {
	t   *tale
	log bool
	// overlap gives every task a clock of its own, as in a run; else all events are in
	// order of time as they are made.
	overlap bool
	// odd is how many messages of a million are given a second time, with a second effect,
	// after their lease has run out (on a log: were answered with a timeout).
	odd     uint64
	planted int64
	// lose is how many of a million are acked and never delivered.
	lose uint64

	rng   *rand.Rand
	clock [4]int64
	batch uint64
	ops   [4]uint32
	buf   []history.Event

	sessions, places [4]uint32 // by task: producers 0 and 1, workers 2 and 3
}

const trafficBatch = 100

func newTraffic(profile string) *traffic {
	t := tell(profile)
	t.header.Producers = append(t.header.Producers, history.Producer{Name: "p1", To: "orders"})
	for k := range 1000 {
		t.names[history.Keys] = append(t.names[history.Keys], "k"+strconv.Itoa(k))
	}
	f := &traffic{t: t, log: t.header.Profile.Model == contract.Log, rng: rand.New(rand.NewPCG(1, 2))}
	for n := range uint32(2) {
		f.sessions[n] = t.ref(history.Sessions, "p"+strconv.Itoa(int(n))+"||orders|1")
		f.sessions[2+n] = t.session("w" + strconv.Itoa(int(n)))
		place := t.place("orders")
		if f.log {
			place = t.place("orders|" + strconv.Itoa(int(n)))
		}
		f.places[n], f.places[2+n] = place, place
	}
	return f
}

// next is the next batch: a hundred messages of a producer from their publish to their
// settlement by a worker. Events are valid until the next call.
func (f *traffic) next() []history.Event {
	f.buf = f.buf[:0]
	producer := uint32(f.batch % 2)
	first := f.batch / 2 * trafficBatch
	for i := range uint64(trafficBatch) {
		f.publish(producer, first+i)
	}
	worker := 2 + producer
	if !f.overlap {
		f.clock[worker] = f.clock[producer]
	}
	f.clock[worker] = max(f.clock[worker], f.clock[producer]+1_000_000)
	op := f.ops[worker]
	for i := range uint64(trafficBatch) {
		if !f.isLost(producer, first+i) {
			f.deliver(worker, producer, first+i)
		}
	}
	at := op
	for i := range uint64(trafficBatch) {
		if !f.isLost(producer, first+i) {
			at++
			f.work(worker, producer, first+i, at)
		}
	}
	if f.log {
		f.settle(worker, producer, first+trafficBatch-1, at)
	}
	f.again(worker, producer, first, op)
	if !f.overlap {
		f.clock = [4]int64{f.clock[worker], f.clock[worker], f.clock[worker], f.clock[worker]}
	}
	f.batch++
	return f.buf
}

// isOdd tells whether a message is one of those that something happens to.
func (f *traffic) isOdd(producer uint32, seq uint64) bool {
	return dice(producer, seq) < f.odd
}

func (f *traffic) isLost(producer uint32, seq uint64) bool {
	return 999_999-dice(producer, seq) < f.lose
}

// dice is a number below a million for each message.
func dice(producer uint32, seq uint64) uint64 {
	return (seq*2 + uint64(producer)) * 0x9e3779b97f4a7c15 >> 32 * 1_000_000 >> 32
}

// keyOf gives each producer keys of its own: between producers nothing keeps an order.
func keyOf(producer uint32, seq uint64) uint32 { return uint32(seq%500)*2 + producer + 1 }

func (f *traffic) put(task uint32, e history.Event, producer uint32, seq uint64, op uint32) {
	f.clock[task] += 300 + f.rng.Int64N(400)
	e.T, e.Task, e.Session, e.Producer, e.Seq, e.Op = f.clock[task], uint16(task), f.sessions[task], producer, seq, op
	f.buf = append(f.buf, e)
}

func (f *traffic) publish(producer uint32, seq uint64) {
	f.ops[producer]++
	op, off := f.ops[producer], int64(-1)
	answer := history.Event{Kind: history.PublishAnswer, Attempt: 1, Class: contract.OK, Answer: contract.Acked, Place: f.places[producer]}
	if f.log {
		off = int64(seq)
		if f.isOdd(producer, seq) {
			f.planted++
			answer.Class, answer.Answer, off = contract.Unknown, contract.Timeout, -1
		}
	}
	answer.Off = off
	f.clock[producer] += 15_000
	f.put(producer, history.Event{Kind: history.PublishStart, Attempt: 1, Place: f.places[producer], Key: keyOf(producer, seq), N: 200, D: f.rng.Int64N(1000), CRC: 77}, producer, seq, op)
	f.put(producer, history.Event{Kind: history.PublishAccepted, Attempt: 1, D: 300}, producer, seq, op)
	f.put(producer, answer, producer, seq, op)
}

func (f *traffic) deliver(worker, producer uint32, seq uint64) {
	f.ops[worker]++
	d := history.Event{Kind: history.Delivery, Attempt: 1, Place: f.places[worker], Off: -1, Key: keyOf(producer, seq), D: 50_000}
	if f.log {
		d.Off = int64(seq)
	} else {
		d.N, d.Until = 1, f.clock[worker]+30_000_000_000
	}
	f.put(worker, d, producer, seq, f.ops[worker])
}

func (f *traffic) work(worker, producer uint32, seq uint64, op uint32) {
	place := f.places[worker]
	f.put(worker, history.Event{Kind: history.HandlerStart, N: 1, Place: place}, producer, seq, op)
	f.put(worker, history.Event{Kind: history.EffectIntent, Place: place}, producer, seq, op)
	f.put(worker, history.Event{Kind: history.EffectResult, Class: contract.OK, Place: place}, producer, seq, op)
	f.put(worker, history.Event{Kind: history.HandlerEnd, D: 1000, Place: place}, producer, seq, op)
	if !f.log && !f.isOdd(producer, seq) {
		f.settle(worker, producer, seq, op)
	}
}

func (f *traffic) settle(worker, producer uint32, seq uint64, op uint32) {
	start := history.Event{Kind: history.SettleStart, Verb: history.VerbAck, Place: f.places[worker], Off: -1}
	answer := history.Event{Kind: history.SettleAnswer, Verb: history.VerbAck, Class: f.t.header.Profile.Settle, Answer: contract.Acked, Place: f.places[worker], Off: -1, D: 500}
	if f.log {
		start.Verb, answer.Verb, start.Off, answer.Off = history.VerbCommit, history.VerbCommit, int64(seq+1), int64(seq+1)
	}
	f.put(worker, start, producer, seq, op)
	f.put(worker, answer, producer, seq, op)
}

// again delivers the odd messages of a queue once more: they were requeued.
func (f *traffic) again(worker, producer uint32, first uint64, op uint32) {
	if f.log {
		return
	}
	for seq := first; seq < first+trafficBatch; seq++ {
		if f.isLost(producer, seq) {
			continue
		}
		op++
		if !f.isOdd(producer, seq) {
			continue
		}
		f.planted++
		f.put(worker, history.Event{Kind: history.SettleStart, Verb: history.VerbRequeue, Place: f.places[worker], Off: -1}, producer, seq, op)
		f.put(worker, history.Event{Kind: history.SettleAnswer, Verb: history.VerbRequeue, Class: f.t.header.Profile.Settle, Place: f.places[worker], Off: -1}, producer, seq, op)
	}
	before := f.ops[worker]
	for seq := first; seq < first+trafficBatch; seq++ {
		if f.isOdd(producer, seq) {
			f.ops[worker]++
			d := history.Event{Kind: history.Delivery, Attempt: 1, Place: f.places[worker], Off: -1, N: 2, Flags: history.Redelivered,
				Until: f.clock[worker] + 30_000_000_000, Key: keyOf(producer, seq), D: 900_000}
			f.put(worker, d, producer, seq, f.ops[worker])
		}
	}
	for seq := first; seq < first+trafficBatch; seq++ {
		if f.isOdd(producer, seq) {
			before++
			f.reworked(worker, producer, seq, before)
		}
	}
}

func (f *traffic) reworked(worker, producer uint32, seq uint64, op uint32) {
	place := f.places[worker]
	f.put(worker, history.Event{Kind: history.HandlerStart, N: 2, Place: place}, producer, seq, op)
	f.put(worker, history.Event{Kind: history.EffectIntent, Place: place}, producer, seq, op)
	f.put(worker, history.Event{Kind: history.EffectResult, Class: contract.OK, Place: place}, producer, seq, op)
	f.put(worker, history.Event{Kind: history.HandlerEnd, D: 1000, Place: place}, producer, seq, op)
	f.settle(worker, producer, seq, op)
}

// record writes some batches to memory and gives the run to read.
func (f *traffic) record(t testing.TB, batches int) *history.Run {
	t.Helper()
	r := history.NewMemory(f.t.header)
	for table := range history.Tables {
		for _, text := range f.t.names[table] {
			r.Intern(table, text)
		}
	}
	var tasks [4]*history.Segment
	for i := range tasks {
		s, err := r.Segment("task")
		if err != nil {
			t.Fatal(err)
		}
		tasks[i] = s
	}
	for range batches {
		for i, all := 0, f.next(); i < len(all); i++ {
			tasks[all[i].Task].Append(&all[i])
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return r.Run()
}
