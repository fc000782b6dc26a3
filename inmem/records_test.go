// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"bytes"
	"strconv"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
	"pgregory.net/rapid"
)

// TestRecordsAgainstSlice compares a log's records, open and packed, with a slice.
func TestRecordsAgainstSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r records
		var all []payload
		bodies := [][]byte{nil, []byte("a"), []byte("another body"), bytes.Repeat([]byte("x"), 700)}
		for range rapid.IntRange(0, 6).Draw(t, "chunks") {
			for range rapid.IntRange(1, chunkSize+100).Draw(t, "records") {
				record := payload{
					id:       msg.ID{Producer: uint32(len(all) % 3), Seq: uint64(len(all))},
					intended: time.Duration(len(all)%5) * time.Second,
					key:      "k" + strconv.Itoa(len(all)%4),
					body:     bodies[len(all)/3%len(bodies)],
					run:      uint32(len(all) / 400), attempt: uint16(1 + len(all)%2),
				}
				record.crc = msg.Checksum(record.body)
				if len(all)%7 == 0 {
					record.crc++
				}
				if offset := r.append(record); offset != int64(len(all)) {
					t.Fatalf("record %d is at offset %d", len(all), offset)
				}
				all = append(all, record)
			}
			below := rapid.Int64Range(0, r.end).Draw(t, "truncate below") / 3
			r.truncate(below)
			for range 20 {
				offset := rapid.Int64Range(r.start, r.end-1).Draw(t, "offset")
				sameRecord(t, r.at(offset), &all[offset])
			}
		}
		for offset := r.start; offset < r.end; offset++ {
			sameRecord(t, r.at(offset), &all[offset])
		}
	})
}

func sameRecord(t *rapid.T, got, want *payload) {
	same := got.id == want.id && got.intended == want.intended && got.key == want.key && got.run == want.run &&
		got.attempt == want.attempt && got.crc == want.crc && bytes.Equal(got.body, want.body)
	if !same {
		t.Fatalf("%v: got %+v, want %+v", want.id, *got, *want)
	}
}

// TestLogIsCompact: what lies behind costs a tenth of what is open.
func TestLogIsCompact(t *testing.T) {
	var r records
	w := writer{}
	m := &msg.Message{Key: "k", Attempt: 1, Body: make([]byte, 200)}
	for i := range uint64(100 * chunkSize) {
		m.ID.Seq, m.Intended = i, time.Duration(i)*time.Millisecond
		r.append(w.payload(m))
	}
	bytes := 0
	for _, c := range r.chunks[:len(r.chunks)-openChunks] {
		bytes += len(c.packed.data)
	}
	if each := float64(bytes) / float64((len(r.chunks)-openChunks)*chunkSize); each > 10 {
		t.Errorf("%.1f bytes a record with a body that repeats, want 10 at most", each)
	}
}

// TestQueuesForget: a soak does not grow what the machine keeps.
func TestQueuesForget(t *testing.T) {
	for _, profile := range []string{"sqs", "sqs-fifo", "rabbitmq", "rabbitmq-classic"} {
		s := newScript(t, profile, Options{}, broker.Destination{Name: "q"})
		for i := range 20_000 {
			s.until(time.Duration(i) * 100 * time.Millisecond)
			s.run("send a" + strconv.Itoa(i))
			got := s.get("A", 5, 0)
			s.run("ack A " + got)
			s.m.Heartbeat(s.now, s.session("A"))
			if i%10 == 0 && s.m.rules.Model == contract.LeaseQueue {
				s.get("B", 1, 50*time.Millisecond)
			}
			if i%100 == 0 {
				clear(s.held)
				s.woken, s.notices = nil, nil
			}
		}
		if size := kept(s.m); size > 3500 {
			t.Errorf("%s keeps %d things after 20,000 messages that are gone", profile, size)
		}
	}
}

// kept counts what a machine holds on to.
func kept(m *Machine) int {
	n := len(m.agenda.heap) + cap(m.outs)
	switch model := m.model.(type) {
	case *leaseQueues:
		q := model.queues["q"]
		n += len(model.free) + len(q.messages) + len(q.ready.fresh.slots) + len(q.ready.original) + len(q.waiters.polls.slots)
		if q.dedup != nil {
			// The window of 300 s holds 3,000 ids.
			n += len(q.dedup.seen) + len(q.groups.byKey) + len(q.groups.opened.slots)
		}
	case *pushQueues:
		q := model.queues["q"]
		n += len(model.free) + len(q.ready.fresh.slots) + len(q.ready.original) + len(q.ready.returned.slots)
		for _, c := range q.channels {
			n += len(c.unacked.slots)
		}
	}
	return n
}
