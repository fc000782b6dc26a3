// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"encoding/binary"
	"time"

	"github.com/seed-720a3c77/harness/msg"
)

// packed is a chunk of records in as few bytes as is cheap: differences from the record
// before, keys by number, a body that equals the one before not at all.
type packed struct {
	data []byte
	keys []string
}

// What a record shares with the one before, or has by itself.
const (
	sameBody = 1 << iota
	sameRun
	firstAttempt
	// badSum: the checksum is not that of the body and is written out.
	badSum
)

func pack(p *page) packed {
	k := packer{numbers: map[string]uint64{}}
	for i := range p {
		k.record(&p[i])
	}
	return packed{data: append([]byte(nil), k.data...), keys: k.keys}
}

type packer struct {
	data    []byte
	keys    []string
	numbers map[string]uint64 // of the keys
	last    payload
	any     bool
	sum     uint32 // of the last body
}

func (k *packer) record(r *payload) {
	flags := k.flags(r)
	k.data = append(k.data, flags)
	k.data = binary.AppendVarint(k.data, int64(r.id.Producer)-int64(k.last.id.Producer))
	k.data = binary.AppendVarint(k.data, int64(r.id.Seq-k.last.id.Seq))
	k.data = binary.AppendVarint(k.data, int64(r.intended-k.last.intended))
	k.data = binary.AppendUvarint(k.data, k.key(r.key))
	if flags&sameRun == 0 {
		k.data = binary.LittleEndian.AppendUint32(k.data, r.run)
	}
	if flags&firstAttempt == 0 {
		k.data = binary.LittleEndian.AppendUint16(k.data, r.attempt)
	}
	if flags&badSum != 0 {
		k.data = binary.LittleEndian.AppendUint32(k.data, r.crc)
	}
	if flags&sameBody == 0 {
		k.data = binary.AppendUvarint(k.data, uint64(len(r.body)))
		k.data = append(k.data, r.body...)
	}
	k.last, k.any = *r, true
}

func (k *packer) flags(r *payload) (flags byte) {
	if k.any && sameMemory(k.last.body, r.body) {
		flags |= sameBody
	} else {
		k.sum = msg.Checksum(r.body)
	}
	if k.any && k.last.run == r.run {
		flags |= sameRun
	}
	if r.attempt == 1 {
		flags |= firstAttempt
	}
	if r.crc != k.sum {
		flags |= badSum
	}
	return flags
}

func (k *packer) key(key string) uint64 {
	n, known := k.numbers[key]
	if !known {
		n = uint64(len(k.keys))
		k.numbers[key] = n
		k.keys = append(k.keys, key)
	}
	return n
}

// unpack opens the chunk. Bodies lie in the packed bytes, which nobody changes.
func (c *packed) unpack(into *page) {
	u := unpacker{data: c.data, keys: c.keys}
	for i := range into {
		u.record(&into[i])
	}
}

type unpacker struct {
	data []byte
	keys []string
	last payload
	sum  uint32
}

func (u *unpacker) record(r *payload) {
	flags := u.data[0]
	u.data = u.data[1:]
	*r = u.last
	r.id.Producer = uint32(int64(r.id.Producer) + u.signed())
	r.id.Seq += uint64(u.signed())
	r.intended += time.Duration(u.signed())
	r.key = u.keys[u.unsigned()]
	if flags&sameRun == 0 {
		r.run = binary.LittleEndian.Uint32(u.take(4))
	}
	r.attempt = 1
	if flags&firstAttempt == 0 {
		r.attempt = binary.LittleEndian.Uint16(u.take(2))
	}
	sum := []byte(nil)
	if flags&badSum != 0 {
		sum = u.take(4)
	}
	if flags&sameBody == 0 {
		r.body = u.take(int(u.unsigned()))
		u.sum = msg.Checksum(r.body)
	}
	r.crc = u.sum
	if sum != nil {
		r.crc = binary.LittleEndian.Uint32(sum)
	}
	u.last = *r
}

func (u *unpacker) signed() int64 {
	v, n := binary.Varint(u.data)
	u.data = u.data[n:]
	return v
}

func (u *unpacker) unsigned() uint64 {
	v, n := binary.Uvarint(u.data)
	u.data = u.data[n:]
	return v
}

func (u *unpacker) take(n int) []byte {
	taken := u.data[:n:n]
	u.data = u.data[n:]
	return taken
}
