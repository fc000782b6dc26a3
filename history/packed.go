// SPDX-License-Identifier: Apache-2.0

package history

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Columns are packed sint64: zigzag varints, read and written here with as few branches
// as can be.

func zigzag(v int64) uint64   { return uint64(v)<<1 ^ uint64(v>>63) }
func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

// appendColumn writes rule 2: what repeats the last difference is left out, and a column
// of zeros altogether.
func appendColumn(b []byte, field uint64, deltas []int64) []byte {
	n := len(deltas)
	for n > 1 && deltas[n-1] == deltas[n-2] {
		n--
	}
	if n == 0 || n == 1 && deltas[0] == 0 {
		return b
	}
	b = appendTag(b, field, wireBytes)
	start := len(b)
	return wrap(appendDeltas(b, deltas[:n]), start)
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
		u = u&0x0fffffff | u&0x00fffffff0000000<<4
		u = u&0x00003fff00003fff | u&0x0fffc0000fffc000<<2
		u = u&0x007f007f007f007f | u&0x3f803f803f803f80<<1
		last := uint(bits.Len64(u)-1) &^ 7 % 64 // where the last byte begins
		u |= 0x8080808080808080 & (1<<last - 1)
		binary.LittleEndian.PutUint64(b[at:], u)
		at += int(last/8) + 1
	}
	return b[:at]
}

// How readColumn gives back a column.
const (
	asDifferences int64 = 0
	asSums        int64 = -1 // each with those before it
)

// readColumn undoes appendColumn. It is false for data that is malformed or holds more
// than the values have room for.
func readColumn(values []int64, data []byte, as int64) bool {
	r := columnReader{as: as}
	if len(data) <= len(values) && allShort(data) {
		r.short(values, data)
	} else {
		r.long(values, data)
		if !r.slow(values, data) {
			return false
		}
	}
	value := r.value
	for n := r.n; n < len(values); n++ {
		value = r.delta + value&as
		values[n] = value
	}
	return true
}

// columnReader is how far a column is read.
type columnReader struct {
	n, at        int // values and bytes
	delta, value int64
	as           int64
}

// short reads varints of one byte each.
func (r *columnReader) short(values []int64, data []byte) {
	delta, value, as := r.delta, r.value, r.as
	for i, u := range data {
		delta = unzigzag(uint64(u))
		value = delta + value&as
		values[i] = value
	}
	r.delta, r.value, r.n, r.at = delta, value, len(data), len(data)
}

// long reads varints of up to 8 bytes, two at a time where 8 bytes hold them, as far as
// it gets: where the next one begins is known without a branch a byte, for the lengths
// of random numbers are not to be predicted.
func (r *columnReader) long(values []int64, data []byte) {
	n, at := 0, 0
	delta, value, as := r.delta, r.value, r.as
	for at+8 <= len(data) && n+1 < len(values) {
		x := binary.LittleEndian.Uint64(data[at:])
		ends := ^x & 0x8080808080808080
		if ends == 0 {
			break
		}
		delta = unzigzag(packed(x & (ends ^ (ends - 1))))
		value = delta + value&as
		values[n] = value
		n++
		first := bits.TrailingZeros64(ends) + 1
		ends &= ends - 1
		if ends == 0 {
			at += first / 8
			continue
		}
		delta = unzigzag(packed(x & (ends ^ (ends - 1)) >> first))
		value = delta + value&as
		values[n] = value
		n++
		at += bits.TrailingZeros64(ends)/8 + 1
	}
	r.delta, r.value, r.n, r.at = delta, value, n, at
}

// packed takes the upper bit out of each of 8 bytes.
func packed(x uint64) uint64 {
	x = x&0x007f007f007f007f | x&0x7f007f007f007f00>>1
	x = x&0x00003fff00003fff | x&0x3fff00003fff0000>>2
	return x&0x0fffffff | x&0x0fffffff00000000>>4
}

// allShort tells whether every varint is of one byte.
func allShort(data []byte) bool {
	for len(data) >= 8 {
		if binary.LittleEndian.Uint64(data)&0x8080808080808080 != 0 {
			return false
		}
		data = data[8:]
	}
	for _, b := range data {
		if b >= 0x80 {
			return false
		}
	}
	return true
}

// slow reads the rest: the last few bytes, or all from a longer varint on.
func (r *columnReader) slow(values []int64, data []byte) bool {
	for r.at < len(data) && r.n < len(values) {
		u, size := binary.Uvarint(data[r.at:])
		if size <= 0 {
			return false
		}
		r.delta = unzigzag(u)
		r.value = r.delta + r.value&r.as
		values[r.n] = r.value
		r.n++
		r.at += size
	}
	return r.at == len(data)
}
