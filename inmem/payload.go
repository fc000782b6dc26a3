// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"bytes"
	"strings"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/msg"
)

// payload is what is stored of a message: the envelope and the body.
type payload struct {
	id       msg.ID
	intended time.Duration
	key      string
	body     []byte
	run, crc uint32
	attempt  uint16
}

// deliver writes the payload into a delivery for a consumer of a run.
func (p *payload) deliver(d *broker.Delivery, to *reader, source string) {
	*d = broker.Delivery{Source: source, Key: p.key, Body: p.body}
	if p.run != to.run {
		d.Foreign = true
		return
	}
	d.ID, d.Attempt, d.Intended = p.id, p.attempt, p.intended
	d.Corrupt = to.checksum(p.body) != p.crc
}

// reader checks bodies, and computes nothing for the same memory twice in a row.
type reader struct {
	run  uint32
	last []byte
	crc  uint32
	any  bool
}

func (r *reader) checksum(body []byte) uint32 {
	if !r.any || !sameMemory(r.last, body) {
		r.last, r.crc, r.any = body, msg.Checksum(body), true
	}
	return r.crc
}

func sameMemory(a, b []byte) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// writer makes payloads for one producer. Bodies are copied, so that the caller may
// reuse its memory; equal bodies in a row are kept once.
type writer struct {
	run  uint32
	last []byte
	crc  uint32
	any  bool
	slab []byte
}

const (
	slabSize = 4096
	// Larger bodies get memory of their own, so that one that stays pins little else.
	slabBody = 512
)

func (w *writer) payload(m *msg.Message) payload {
	if !w.any || !bytes.Equal(w.last, m.Body) {
		w.last, w.crc, w.any = w.keep(m.Body), msg.Checksum(m.Body), true
	}
	return payload{
		id: m.ID, intended: m.Intended, key: m.Key, body: w.last,
		run: w.run, crc: w.crc, attempt: m.Attempt,
	}
}

func (w *writer) keep(body []byte) []byte {
	if len(body) > slabBody {
		return bytes.Clone(body)
	}
	if cap(w.slab)-len(w.slab) < len(body) {
		w.slab = make([]byte, 0, slabSize)
	}
	from := len(w.slab)
	w.slab = append(w.slab, body...)
	return w.slab[from:len(w.slab):len(w.slab)]
}

// texts makes small strings, many to an allocation.
type texts struct{ slab strings.Builder }

func (t *texts) add(text []byte) string {
	if t.slab.Cap()-t.slab.Len() < len(text) {
		t.slab.Reset()
		t.slab.Grow(slabSize)
	}
	from := t.slab.Len()
	t.slab.Write(text)
	return t.slab.String()[from:]
}
