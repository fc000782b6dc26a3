// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"
)

// Effects is a store in memory that survives crashes: a ledger of effects, a set of keys
// with expiry, and named values. Each method is one operation on a database that could be
// elsewhere, so a schedule may crash, hold or fail the handler before and after it. It is
// safe for concurrent use.
//
// It holds what a handler may do right and what it may do wrong alike: a lookup that is
// followed by a write is a race, and a Transaction is none.
type Effects struct {
	store *effectStore
	from  *process
}

// effectStore is the part that all processes of a scenario share.
type effectStore struct {
	mu      sync.Mutex
	applied []string // ids in the order of their effects
	keys    map[string]keyRow
	values  map[string]string
	tokens  uint64
	used    bool
}

type keyRow struct {
	token uint64
	until time.Time // zero is for ever
}

func newEffectStore() *effectStore {
	return &effectStore{keys: map[string]keyRow{}, values: map[string]string{}}
}

// Apply applies the effect of an event: one more each time.
func (e *Effects) Apply(ctx context.Context, id string) error {
	return e.do(ctx, "apply the effect of "+id, func(tx *Tx) error { tx.Apply(id); return nil })
}

// Seen tells whether a key is known and has not expired.
func (e *Effects) Seen(ctx context.Context, key string) (seen bool, err error) {
	err = e.do(ctx, "look up the key "+key, func(tx *Tx) error { seen = tx.Seen(key); return nil })
	return seen, err
}

// Remember stores a key, for ttl or, if that is zero, for ever.
func (e *Effects) Remember(ctx context.Context, key string, ttl time.Duration) error {
	return e.do(ctx, "store the key "+key, func(tx *Tx) error { tx.Remember(key, ttl); return nil })
}

// Claim stores a key unless it is there: insert if absent, in one step. The token is that
// of this claim, for Tx.Holds; it is zero where somebody else has the key. A claim with a
// lease ends by itself, one of zero holds for ever.
func (e *Effects) Claim(ctx context.Context, key string, lease time.Duration) (token uint64, err error) {
	err = e.do(ctx, "claim the key "+key, func(tx *Tx) error { token = tx.Claim(key, lease); return nil })
	return token, err
}

// Forget removes a key.
func (e *Effects) Forget(ctx context.Context, key string) error {
	return e.do(ctx, "remove the key "+key, func(tx *Tx) error { tx.Forget(key); return nil })
}

// Set stores a value under a name: the last write wins.
func (e *Effects) Set(ctx context.Context, name, value string) error {
	return e.do(ctx, "set "+name, func(tx *Tx) error { tx.Set(name, value); return nil })
}

// Get returns the value of a name, "" where there is none.
func (e *Effects) Get(ctx context.Context, name string) (value string, err error) {
	err = e.do(ctx, "read "+name, func(tx *Tx) error { value = tx.Get(name); return nil })
	return value, err
}

// Transaction does everything in fn or, if fn returns an error, nothing. Transactions
// come one after another; fn must not use Effects or wait.
func (e *Effects) Transaction(ctx context.Context, fn func(*Tx) error) error {
	return e.do(ctx, "the transaction", fn)
}

func (e *Effects) do(ctx context.Context, what string, fn func(*Tx) error) error {
	op := &operation{text: what}
	return e.from.operate(ctx, op, func() error {
		tx, err := e.store.run(fn)
		op.text, op.kind = strings.Join(tx.said, ", "), tx.kind
		return err
	})
}

// run is one transaction: what fails or panics leaves nothing.
func (s *effectStore) run(fn func(*Tx) error) (tx *Tx, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = true
	applied, keys, values, committed := len(s.applied), maps.Clone(s.keys), maps.Clone(s.values), false
	defer func() {
		if !committed {
			s.applied, s.keys, s.values = s.applied[:applied], keys, values
		}
	}()
	tx = &Tx{s: s, now: time.Now()}
	err = fn(tx)
	committed = err == nil
	return tx, err
}

// counts are the effects by event id.
func (s *effectStore) counts() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return countOf(s.applied)
}

func countOf(ids []string) map[string]int {
	counts := map[string]int{}
	for _, id := range ids {
		counts[id]++
	}
	return counts
}

// ErrInjected is what an operation returns that a schedule lets fail.
var ErrInjected = errors.New("consumertest: the store does not answer")

// Tx is a transaction of Effects.
type Tx struct {
	s    *effectStore
	now  time.Time
	said []string
	kind opKind
}

// Apply applies the effect of an event: one more each time.
func (tx *Tx) Apply(id string) {
	tx.say(opEffect, "applies the effect of %s", id)
	tx.s.applied = append(tx.s.applied, id)
}

// Seen tells whether a key is known and has not expired.
func (tx *Tx) Seen(key string) bool {
	seen := tx.live(key)
	tx.say(opLook, "looks up the key %q: %s", key, either(seen, "known", "unknown"))
	return seen
}

// Remember stores a key, for ttl or, if that is zero, for ever.
func (tx *Tx) Remember(key string, ttl time.Duration) {
	tx.say(opKey, "stores the key %q%s", key, forHowLong(ttl))
	tx.put(key, ttl)
}

// Claim stores a key unless it is there. See Effects.Claim.
func (tx *Tx) Claim(key string, lease time.Duration) uint64 {
	if tx.live(key) {
		tx.say(opClaim, "claims the key %q: taken", key)
		return 0
	}
	tx.say(opClaim, "claims the key %q%s: won", key, forHowLong(lease))
	return tx.put(key, lease)
}

// Holds tells whether the claim of this token still stands: nobody took the key since.
func (tx *Tx) Holds(key string, token uint64) bool {
	row, known := tx.s.keys[key]
	held := known && row.token == token
	tx.say(opLook, "checks its claim of %q: %s", key, either(held, "holds", "lost"))
	return held
}

// Forget removes a key.
func (tx *Tx) Forget(key string) {
	tx.say(opKey, "removes the key %q", key)
	delete(tx.s.keys, key)
}

// Set stores a value under a name.
func (tx *Tx) Set(name, value string) {
	tx.say(opEffect, "sets %s to %q", name, value)
	tx.s.values[name] = value
}

// Get returns the value of a name, "" where there is none.
func (tx *Tx) Get(name string) string {
	value := tx.s.values[name]
	tx.say(opLook, "reads %s: %q", name, value)
	return value
}

func (tx *Tx) live(key string) bool {
	row, known := tx.s.keys[key]
	return known && (row.until.IsZero() || tx.now.Before(row.until))
}

func (tx *Tx) put(key string, ttl time.Duration) uint64 {
	tx.s.tokens++
	row := keyRow{token: tx.s.tokens}
	if ttl > 0 {
		row.until = tx.now.Add(ttl)
	}
	tx.s.keys[key] = row
	return row.token
}

func (tx *Tx) say(kind opKind, format string, args ...any) {
	tx.said = append(tx.said, fmt.Sprintf(format, args...))
	tx.kind |= kind
}

func forHowLong(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return " for " + brief(d)
}

func either(yes bool, this, that string) string {
	if yes {
		return this
	}
	return that
}
