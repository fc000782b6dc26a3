// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"runtime"
	"strconv"
	"testing"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

// endless makes an endless clean history: two producers, two partitions or one queue, two
// workers with batches of 100, keys, seven events a message and one commit a batch.
type endless struct {
	t     *tale
	log   bool
	at    int64
	batch uint64
	buf   []history.Event
}

const flowBatch = 100

func newFlow(profile string) *endless {
	t := tell(profile)
	t.header.Producers = append(t.header.Producers, history.Producer{Name: "p1", To: "orders"})
	for k := range 1000 {
		t.ref(history.Keys, "k"+strconv.Itoa(k))
	}
	return &endless{t: t, log: t.header.Profile.Model == contract.Log}
}

// next is the next batch: a hundred messages from their publish to their settlement.
func (f *endless) next() []history.Event {
	f.buf = f.buf[:0]
	worker := "w" + strconv.Itoa(int(f.batch%2))
	producer := uint32(f.batch % 2)
	session, from := f.t.session(worker), f.t.ref(history.Sessions, "p"+strconv.Itoa(int(producer))+"||orders|1")
	place := f.t.place("orders")
	if f.log {
		place = f.t.place("orders|" + strconv.Itoa(int(producer)))
	}
	first := f.batch / 2 * flowBatch
	put := func(e history.Event, i uint64, op uint32) {
		f.at += 700
		e.T, e.Producer, e.Seq, e.Place, e.Op, e.Key = f.at, producer, first+i, place, op, uint32((first+i)%1000+1)
		f.buf = append(f.buf, e)
	}
	for i := range uint64(flowBatch) {
		off := int64(first + i)
		put(history.Event{Kind: history.PublishStart, Session: from, Attempt: 1}, i, uint32(first+i))
		put(history.Event{Kind: history.PublishAnswer, Session: from, Attempt: 1, Class: contract.OK, Answer: contract.Acked, Off: off}, i, uint32(first+i))
	}
	for i := range uint64(flowBatch) {
		put(history.Event{Kind: history.Delivery, Session: session, Off: int64(first + i), D: 50_000}, i, uint32(first+i))
	}
	for i := range uint64(flowBatch) {
		for _, kind := range []history.Kind{history.HandlerStart, history.EffectIntent, history.EffectResult, history.HandlerEnd} {
			put(history.Event{Kind: kind, Session: session, Class: contract.OK}, i, uint32(first+i))
		}
		if !f.log || i == flowBatch-1 {
			verb := history.VerbAck
			if f.log {
				verb = history.VerbCommit
			}
			put(history.Event{Kind: history.SettleStart, Session: session, Verb: verb, Off: int64(first + i + 1)}, i, uint32(first+i))
			put(history.Event{Kind: history.SettleAnswer, Session: session, Verb: verb, Class: f.t.header.Profile.Settle}, i, uint32(first+i))
		}
	}
	f.batch++
	return f.buf
}

func BenchmarkCheck(b *testing.B) {
	for _, profile := range []string{kafka, sqs, rabbitmq} {
		b.Run(profile, func(b *testing.B) {
			f := newFlow(profile)
			j := New(&f.t.header, f.t.name)
			events := 0
			b.ReportAllocs()
			for b.Loop() {
				for i, all := 0, f.next(); i < len(all); i++ {
					j.Observe(&all[i])
					events++
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
		})
	}
}

// TestMemoryFollowsWhatIsOutstanding runs a long clean history: what is settled must not
// be kept.
func TestMemoryFollowsWhatIsOutstanding(t *testing.T) {
	for _, profile := range []string{kafka, sqs, rabbitmq} {
		f := newFlow(profile)
		j := New(&f.t.header, f.t.name)
		feed := func(batches int) uint64 {
			for range batches {
				for i, all := 0, f.next(); i < len(all); i++ {
					j.Observe(&all[i])
				}
			}
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		before := feed(200)
		after := feed(1000)
		if grown := int64(after) - int64(before); grown > 1<<20 {
			t.Errorf("%s: 100,000 settled messages cost %d KiB", profile, grown>>10)
		}
		r := j.Finish()
		wantFindings(t, &r, "")
		if r.Counts["done"] != 120_000 {
			t.Errorf("%s: done %d, want 120,000", profile, r.Counts["done"])
		}
	}
}
