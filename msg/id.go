// SPDX-License-Identifier: Apache-2.0

package msg

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ID names one logical message: the producer's number and its sequence number, which
// is dense from 0. A retry of the same message has the same ID and a higher attempt.
type ID struct {
	Producer uint32
	Seq      uint64
}

// ErrID is returned for text that is not an id.
var ErrID = errors.New("not a message id")

// String writes the id as it is shown and parsed everywhere: p0/17.
func (id ID) String() string { return string(id.Append(nil)) }

// Append adds the text of the id to dst.
func (id ID) Append(dst []byte) []byte {
	dst = append(dst, 'p')
	dst = strconv.AppendUint(dst, uint64(id.Producer), 10)
	dst = append(dst, '/')
	return strconv.AppendUint(dst, id.Seq, 10)
}

// Compare orders ids by producer, then by sequence number.
func (id ID) Compare(other ID) int {
	return cmp.Or(cmp.Compare(id.Producer, other.Producer), cmp.Compare(id.Seq, other.Seq))
}

// MarshalText makes ids readable in JSON.
func (id ID) MarshalText() ([]byte, error) { return id.Append(nil), nil }

// UnmarshalText reads what MarshalText wrote.
func (id *ID) UnmarshalText(text []byte) (err error) {
	*id, err = ParseID(string(text))
	return err
}

// ParseID reads the form that String writes.
func ParseID(text string) (ID, error) {
	producer, seq, found := strings.Cut(text, "/")
	if !found || len(producer) < 2 || producer[0] != 'p' {
		return ID{}, fmt.Errorf("%w: %q (want p0/17)", ErrID, text)
	}
	p, err := strconv.ParseUint(producer[1:], 10, 32)
	if err != nil {
		return ID{}, fmt.Errorf("%w: %q: producer: %w", ErrID, text, err)
	}
	s, err := strconv.ParseUint(seq, 10, 64)
	if err != nil {
		return ID{}, fmt.Errorf("%w: %q: sequence: %w", ErrID, text, err)
	}
	return ID{uint32(p), s}, nil
}
