// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/internal/suggest"
	"github.com/seed-720a3c77/harness/msg"
)

// The operations of the port that a request fault or a trigger may name.
const (
	Publish = "publish"
	Receive = "receive"
	// Settling is how a profile says done: an ack on a queue, a commit on a log.
	Settling = "settle"
	Acking   = "ack"
	Requeue  = "requeue"
	Reject   = "reject"
	Extend   = "extend"
	Commit   = "commit"
)

// Operations lists them.
func Operations() []string {
	return []string{Publish, Receive, Settling, Acking, Requeue, Reject, Extend, Commit}
}

// Call is one operation of the port: a publish, a receive, or one entry of a settle.
type Call struct {
	Operation string
	// By is the name of the producer's or consumer's spec.
	By string
	// To is the destination, as the broker knows it.
	To string
	// ID and Key are those of the message; a receive has none before it is answered.
	ID  msg.ID
	Key string
	// Entry is where it stands in its batch, from 1: among the settlements of one call, or
	// the deliveries of one answer. A publish is alone.
	Entry int
}

// Match selects calls. The words are those of a timeline; what is empty matches all.
type Match struct {
	Operation string `yaml:"operation"`
	// By is a producer, a worker or a group of workers.
	By string `yaml:"by,omitempty"`
	// To is the destination that is published to, received from or settled at.
	To string `yaml:"to,omitempty"`
	// ID and Key are of a message. A settlement knows no key.
	ID  string `yaml:"id,omitempty"`
	Key string `yaml:"key,omitempty"`
	// Entries are the places in a batch, from 1, such as [1, 3]; empty is all.
	Entries []int `yaml:"entries,omitempty"`

	id msg.ID // ID, once it was checked
}

// Check refuses words that make no sense.
func (m *Match) Check() error {
	if !slices.Contains(Operations(), m.Operation) {
		return errors.New(suggest.Unknown("operation", m.Operation, Operations()))
	}
	if m.Key != "" && m.Operation != Publish && m.Operation != Receive {
		return fmt.Errorf("%s knows no key; name an id", m.Operation)
	}
	if slices.ContainsFunc(m.Entries, func(n int) bool { return n < 1 }) {
		return errors.New("entries of a batch are counted from 1")
	}
	if m.Entries != nil && len(m.Entries) == 0 {
		return errors.New("entries of a batch: an empty list selects none; leave it out for all")
	}
	if len(m.Entries) > 0 && m.Operation == Publish {
		return errors.New("a publish is no batch; name an id, or nth")
	}
	if m.ID == "" {
		return nil
	}
	id, err := msg.ParseID(m.ID)
	m.id = id
	return err
}

// Matches tells whether a call is meant.
func (m *Match) Matches(c *Call) bool {
	return m.operation(c.Operation) && (m.By == "" || IsNamed(c.By, m.By)) && (m.To == "" || m.To == c.To) && m.message(c.ID, c.Key) && m.entry(c.Entry)
}

func (m *Match) entry(n int) bool { return len(m.Entries) == 0 || slices.Contains(m.Entries, n) }

func (m *Match) operation(made string) bool {
	return m.Operation == made || m.Operation == Settling && (made == Acking || made == Commit)
}

func (m *Match) message(id msg.ID, key string) bool {
	return (m.ID == "" || m.id == id) && (m.Key == "" || m.Key == key)
}

// IsNamed tells whether the name of a spec belongs to a producer, a worker or a group:
// p0 is p0, billing/1-2-1 is a session of billing/1 and of billing.
func IsNamed(spec, who string) bool {
	rest, ok := strings.CutPrefix(spec, who)
	if !ok || rest == "" {
		return ok
	}
	if strings.Contains(who, "/") {
		return rest[0] == '-'
	}
	return rest[0] == '/'
}

// operationOf names what a settlement does; a mark is the client's own and no request.
func operationOf(v broker.Verb) string {
	if v == broker.Mark || v == broker.NoVerb {
		return ""
	}
	return v.String()
}

// Unable says why a profile has no such operation, or "".
func (m *Match) Unable(p *contract.Profile) string {
	needs := map[string]contract.Capability{
		Acking: contract.Acks, Requeue: contract.Requeue, Reject: contract.Reject, Extend: contract.Extend, Commit: contract.OffsetCommit,
	}
	if needed, ok := needs[m.Operation]; ok && !p.Can.Has(needed) {
		return fmt.Sprintf("%s has no %s", p.Name, m.Operation)
	}
	return ""
}
