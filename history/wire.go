// SPDX-License-Identifier: Apache-2.0

package history

import "encoding/binary"

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
