// SPDX-License-Identifier: Apache-2.0

package history

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Protobuf's wire format, as much of it as the schema needs.

const (
	wireVarint = 0
	wireBytes  = 2
)

func appendTag(b []byte, field uint64, wire uint64) []byte {
	return binary.AppendUvarint(b, field<<3|wire)
}

// appendNumber leaves out a field that is 0.
func appendNumber(b []byte, field, value uint64) []byte {
	if value == 0 {
		return b
	}
	return binary.AppendUvarint(appendTag(b, field, wireVarint), value)
}

// appendText leaves out a field that is empty.
func appendText(b []byte, field uint64, text string) []byte {
	if text == "" {
		return b
	}
	b = binary.AppendUvarint(appendTag(b, field, wireBytes), uint64(len(text)))
	return append(b, text...)
}

// wrap puts the length of b[start:] in front of it, so that lengths need not be known before.
func wrap(b []byte, start int) []byte {
	var prefix [binary.MaxVarintLen64]byte
	n := len(b) - start
	size := binary.PutUvarint(prefix[:], uint64(n))
	b = append(b, prefix[:size]...)
	copy(b[start+size:], b[start:start+n])
	copy(b[start:], prefix[:size])
	return b
}

func zigzag(v int64) uint64   { return uint64(v)<<1 ^ uint64(v>>63) }
func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

// fields walks over the fields of a message. A message that is not well formed ends it
// with bad set.
type fields struct {
	rest   []byte
	field  uint64
	number uint64 // of a varint field
	data   []byte // of a bytes field
	bad    bool
}

func (f *fields) next() bool {
	if len(f.rest) == 0 || f.bad {
		return false
	}
	tag := f.varint()
	f.field, f.number, f.data = tag>>3, 0, nil
	switch tag & 7 {
	case wireVarint:
		f.number = f.varint()
	case wireBytes:
		f.data = f.take(f.varint())
	case 1:
		f.take(8)
	case 5:
		f.take(4)
	default:
		f.bad = true
	}
	return !f.bad
}

func (f *fields) varint() uint64 {
	v, n := binary.Uvarint(f.rest)
	if n <= 0 {
		f.bad = true
		return 0
	}
	f.rest = f.rest[n:]
	return v
}

func (f *fields) take(n uint64) []byte {
	if n > uint64(len(f.rest)) {
		f.bad = true
		return nil
	}
	data := f.rest[:n]
	f.rest = f.rest[n:]
	return data
}

// appendDeltas writes zigzag varints. One of up to 8 bytes takes no branch a byte, for
// the lengths of random numbers are not to be predicted.
func appendDeltas(b []byte, deltas []int64) []byte {
	at := len(b)
	b = slices.Grow(b, binary.MaxVarintLen64*len(deltas))
	b = b[:cap(b)]
	for _, d := range deltas {
		u := zigzag(d)
		if u < 0x80 {
			b[at] = byte(u)
			at++
			continue
		}
		if u >= 1<<56 {
			at += binary.PutUvarint(b[at:], u)
			continue
		}
		size := (bits.Len64(u) + 6) / 7
		u = u&0x0fffffff | u&0x00fffffff0000000<<4
		u = u&0x00003fff00003fff | u&0x0fffc0000fffc000<<2
		u = u&0x007f007f007f007f | u&0x3f803f803f803f80<<1
		u |= 0x8080808080808080 & (1<<(8*(size-1)) - 1)
		binary.LittleEndian.PutUint64(b[at:], u)
		at += size
	}
	return b[:at]
}

// readDeltas reads zigzag varints until data ends or deltas is full. It returns how many
// there are, or -1 if data is malformed or holds more. It may look at the 7 bytes behind
// data where there is room, so as to read a varint of up to 8 bytes at once.
func readDeltas(deltas []int64, data []byte) int {
	words := data[:min(len(data)+7, cap(data))]
	n, i := 0, 0
	for i < len(data) && i+8 <= len(words) && n < len(deltas) {
		x := binary.LittleEndian.Uint64(words[i:])
		if x&0x80 == 0 {
			deltas[n] = unzigzag(x & 0x7f)
			n++
			i++
			continue
		}
		ends := ^x & 0x8080808080808080
		if ends == 0 {
			break
		}
		x &= ends ^ (ends - 1)
		x = x&0x007f007f007f007f | x&0x7f007f007f007f00>>1
		x = x&0x00003fff00003fff | x&0x3fff00003fff0000>>2
		deltas[n] = unzigzag(x&0x0fffffff | x&0x0fffffff00000000>>4)
		n++
		i += bits.TrailingZeros64(ends)/8 + 1
	}
	return readSlowly(deltas, data, n, i)
}

// readSlowly goes on where a varint is longer or there is no room behind.
func readSlowly(deltas []int64, data []byte, n, i int) int {
	for i < len(data) && n < len(deltas) {
		u, size := binary.Uvarint(data[i:])
		if size <= 0 {
			return -1
		}
		deltas[n] = unzigzag(u)
		n++
		i += size
	}
	if i != len(data) {
		return -1
	}
	return n
}
