// SPDX-License-Identifier: Apache-2.0

package history

import (
	"math/rand/v2"

	"github.com/seed-720a3c77/harness/contract"
)

// synthetic makes a run like one on Kafka: 2 producers, 4 partitions, 2 workers, batches
// of 100, 50,000 random keys, random sizes and checksums, jittered times, 7 events a
// message. It is what the figures of size and speed are measured on.
type synthetic struct {
	rng *rand.Rand
	// offsets of the partitions, and what each worker has handled.
	offsets [4]int64
	ops     [4]uint32
	now     [4]int64
	waiting [2][]Event // deliveries to come, by worker
}

const (
	syntheticTasks = 4 // producers 0 and 1, workers 2 and 3
	syntheticBatch = 100
)

func newSynthetic(seed uint64) *synthetic {
	return &synthetic{rng: rand.New(rand.NewPCG(seed, 1))}
}

// messages publishes and handles n messages a producer, and gives each event to append
// with the number of its task.
func (s *synthetic) messages(n int, appendTo func(task int, e *Event)) {
	for i := range n {
		for producer := range 2 {
			s.publish(producer, i, appendTo)
		}
		for worker := range 2 {
			if len(s.waiting[worker]) >= syntheticBatch {
				s.handle(worker, appendTo)
			}
		}
	}
	for worker := range 2 {
		s.handle(worker, appendTo)
	}
}

func (s *synthetic) jitter(mean int64) int64 { return mean/2 + s.rng.Int64N(mean) }

func (s *synthetic) publish(producer, seq int, appendTo func(int, *Event)) {
	s.now[producer] += s.jitter(20_000)
	partition := s.rng.IntN(4)
	e := Event{
		Kind: PublishStart, T: s.now[producer], Producer: uint32(producer), Seq: uint64(seq), Attempt: 1,
		Session: uint32(producer + 1), Place: 1, Key: 1 + s.rng.Uint32N(50_000), Op: s.ops[producer],
		N: 100 + s.rng.Uint32N(900), CRC: s.rng.Uint32(), D: s.jitter(1000),
	}
	appendTo(producer, &e)
	delivery := e
	s.ops[producer]++
	took := s.jitter(10_000)
	e.Kind, e.T, e.D = PublishAnswer, e.T+took, took
	e.N, e.CRC, e.Key = 0, 0, 0
	e.Place, e.Off = uint32(2+partition), s.offsets[partition]
	e.Answer, e.Class = contract.Acked, contract.OK
	appendTo(producer, &e)
	s.offsets[partition]++
	delivery.Kind, delivery.Place, delivery.Off = Delivery, e.Place, e.Off
	delivery.N, delivery.CRC, delivery.Gen = 0, 0, 1
	s.waiting[partition%2] = append(s.waiting[partition%2], delivery)
}

func (s *synthetic) handle(worker int, appendTo func(int, *Event)) {
	task := 2 + worker
	batch := s.waiting[worker]
	if len(batch) == 0 {
		return
	}
	s.now[task] = max(s.now[task], batch[len(batch)-1].T+1_000_000)
	first := s.ops[task]
	for i := range batch {
		e := &batch[i]
		s.now[task] += s.jitter(100)
		e.D, e.T = s.now[task]-e.T, s.now[task]
		e.Session, e.Op = uint32(task+1), s.ops[task]
		s.ops[task]++
		appendTo(task, e)
	}
	for i := range batch {
		s.work(task, &batch[i], first+uint32(i), appendTo)
	}
	for i := range batch {
		d := &batch[i]
		s.now[task] += s.jitter(100)
		appendTo(task, &Event{
			Kind: SettleAnswer, T: s.now[task], Producer: d.Producer, Seq: d.Seq, Session: d.Session, Op: d.Op,
			Place: d.Place, Off: d.Off + 1, Verb: VerbCommit, Answer: contract.Acked, Class: contract.OK, D: s.jitter(2000),
		})
	}
	s.waiting[worker] = batch[:0]
}

func (s *synthetic) work(task int, d *Event, op uint32, appendTo func(int, *Event)) {
	e := Event{Producer: d.Producer, Seq: d.Seq, Session: d.Session, Op: op}
	began := s.now[task]
	e.Kind, e.T, e.N = HandlerStart, began, 1
	appendTo(task, &e)
	s.now[task] += s.jitter(4000)
	e.Kind, e.T, e.Place, e.Class = EffectResult, s.now[task], 7, contract.OK
	appendTo(task, &e)
	s.now[task] += s.jitter(200)
	e.Kind, e.T, e.Place, e.Class, e.N, e.D = HandlerEnd, s.now[task], 0, 0, 0, s.now[task]-began
	appendTo(task, &e)
}
