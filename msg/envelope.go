// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"time"
)

const (
	// HeaderName is the header or attribute in which the envelope rides.
	HeaderName = "harness-id"
	// KeyHeader carries the ordering key where the broker has no field for it.
	KeyHeader = "harness-key"
)

// Envelope is the identity of one attempt of one message of one run.
type Envelope struct {
	// Run tells the messages of this run from left-overs of another.
	Run      uint32
	ID       ID
	Attempt  uint16
	Intended time.Duration
	// CRC is the CRC-32C of the body as it was handed to the producer.
	CRC uint32
}

// ErrEnvelope is returned for a header that is no envelope: a foreign message.
var ErrEnvelope = errors.New("not a harness envelope")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum is the CRC-32C of a body.
func Checksum(body []byte) uint32 { return crc32.Checksum(body, castagnoli) }

// Seal makes the envelope of a message.
func Seal(run uint32, m *Message) Envelope {
	return Envelope{Run: run, ID: m.ID, Attempt: m.Attempt, Intended: m.Intended, CRC: Checksum(m.Body)}
}

// Append adds the header's text to dst: version, run, id, attempt, intended
// nanoseconds and checksum, as in "1;9f3c21aa;p0/17;1;123456789;c1a2b3c4".
func (e Envelope) Append(dst []byte) []byte {
	dst = append(dst, '1', ';')
	dst = strconv.AppendUint(dst, uint64(e.Run), 16)
	dst = append(dst, ';')
	dst = e.ID.Append(dst)
	dst = append(dst, ';')
	dst = strconv.AppendUint(dst, uint64(e.Attempt), 10)
	dst = append(dst, ';')
	dst = strconv.AppendInt(dst, int64(e.Intended), 10)
	dst = append(dst, ';')
	return strconv.AppendUint(dst, uint64(e.CRC), 16)
}

// String is the header's text.
func (e Envelope) String() string { return string(e.Append(nil)) }

// ParseEnvelope reads a header. Anything that is not exactly an envelope of version 1
// is ErrEnvelope; input of any length is refused without being copied.
func ParseEnvelope(text string) (Envelope, error) {
	if len(text) > 128 {
		return Envelope{}, fmt.Errorf("%w: %d bytes", ErrEnvelope, len(text))
	}
	part, ok := fields(text)
	if !ok || part[0] != "1" {
		return Envelope{}, fmt.Errorf("%w: %q", ErrEnvelope, text)
	}
	run, err1 := strconv.ParseUint(part[1], 16, 32)
	id, err2 := ParseID(part[2])
	attempt, err3 := strconv.ParseUint(part[3], 10, 16)
	intended, err4 := strconv.ParseInt(part[4], 10, 64)
	crc, err5 := strconv.ParseUint(part[5], 16, 32)
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return Envelope{}, fmt.Errorf("%w: %q: %w", ErrEnvelope, text, err)
	}
	return Envelope{uint32(run), id, uint16(attempt), time.Duration(intended), uint32(crc)}, nil
}

// fields splits a header without an allocation.
func fields(text string) (part [6]string, ok bool) {
	n := 0
	for one := range strings.SplitSeq(text, ";") {
		if n == len(part) {
			return part, false
		}
		part[n] = one
		n++
	}
	return part, n == len(part)
}
