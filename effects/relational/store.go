// SPDX-License-Identifier: Apache-2.0

// Package relational is a store of effects in a SQL database, with the statements that
// SQLite and PostgreSQL understand alike. It opens nothing itself: see effects/sqlite and
// effects/postgres.
//
// The table of effects counts them by subscription and message, and the table of claims
// holds who may work on what. What a mode guards is done in one statement or in one
// transaction, as an application would have to do it.
package relational

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/effects"
	"github.com/seed-720a3c77/harness/msg"
)

// Config of a store.
type Config struct {
	// Product is shown in the store's name: sqlite, postgres.
	Product string
	DB      *sql.DB
	// Prefix of the tables' names, unique in the run: letters, digits and underscores.
	Prefix string
	Mode   effects.Mode
	Clock  clock.Clock
	// Lease is how long a claim holds.
	Lease time.Duration
	// Numbered writes parameters as $1 instead of ?.
	Numbered bool
}

// Store is an effects.Store in a database.
type Store struct {
	Config
	statements map[string]string
}

var _ effects.Store = (*Store)(nil)

const schema = `
CREATE TABLE {effects} (subscription TEXT NOT NULL, producer BIGINT NOT NULL, seq BIGINT NOT NULL, count BIGINT NOT NULL, PRIMARY KEY (subscription, producer, seq));
CREATE TABLE {claims} (subscription TEXT NOT NULL, producer BIGINT NOT NULL, seq BIGINT NOT NULL, worker TEXT NOT NULL, until_ns BIGINT NOT NULL, done BIGINT NOT NULL, PRIMARY KEY (subscription, producer, seq))`

const (
	again = `INSERT INTO {effects} (subscription, producer, seq, count) VALUES (?, ?, ?, 1)
ON CONFLICT (subscription, producer, seq) DO UPDATE SET count = {effects}.count + 1 RETURNING count`
	upsert = `INSERT INTO {effects} (subscription, producer, seq, count) VALUES (?, ?, ?, 1)
ON CONFLICT (subscription, producer, seq) DO UPDATE SET count = 1 RETURNING count`
	once = `INSERT INTO {effects} (subscription, producer, seq, count) VALUES (?, ?, ?, 1) ON CONFLICT (subscription, producer, seq) DO NOTHING`
	held = `SELECT count FROM {effects} WHERE subscription = ? AND producer = ? AND seq = ?`
	all  = `SELECT producer, seq, count FROM {effects} WHERE subscription = ? ORDER BY producer, seq`
	take = `INSERT INTO {claims} (subscription, producer, seq, worker, until_ns, done) VALUES (?, ?, ?, ?, ?, 0)
ON CONFLICT (subscription, producer, seq) DO UPDATE SET worker = excluded.worker, until_ns = excluded.until_ns
WHERE {claims}.done = 0 AND ({claims}.worker = excluded.worker OR {claims}.until_ns <= ?)`
	finish = `UPDATE {claims} SET done = 1 WHERE subscription = ? AND producer = ? AND seq = ? AND worker = ? AND done = 0`
	done   = `SELECT done FROM {claims} WHERE subscription = ? AND producer = ? AND seq = ?`
)

// New makes the tables. Tables of this prefix that exist already are an error: a store is
// never used twice.
func New(ctx context.Context, c Config) (*Store, error) {
	if c.Prefix == "" || strings.Trim(c.Prefix, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return nil, fmt.Errorf("%s: prefix %q: want lower-case letters, digits and _", c.Product, c.Prefix)
	}
	switch c.Mode {
	case effects.None, effects.Plain, effects.Upsert, effects.Claim, effects.Transactional:
	default:
		return nil, fmt.Errorf("%w: %q", effects.ErrMode, c.Mode)
	}
	s := &Store{Config: c, statements: map[string]string{}}
	for _, text := range []string{again, upsert, once, held, all, take, finish, done} {
		s.statements[text] = s.prepare(text)
	}
	for text := range strings.SplitSeq(schema, ";") {
		if _, err := c.DB.ExecContext(ctx, s.prepare(text)); err != nil {
			return nil, fmt.Errorf("%s: create tables: %w", c.Product, err)
		}
	}
	return s, nil
}

// prepare puts the tables' names in, and the parameters as the database writes them.
func (s *Store) prepare(text string) string {
	text = strings.NewReplacer("{effects}", s.Prefix+"_effects", "{claims}", s.Prefix+"_claims").Replace(text)
	if !s.Numbered {
		return text
	}
	var b strings.Builder
	for n, part := range strings.Split(text, "?") {
		if n > 0 {
			b.WriteString("$" + strconv.Itoa(n))
		}
		b.WriteString(part)
	}
	return b.String()
}

// Drop removes the tables; those that are gone already are no error.
func (s *Store) Drop(ctx context.Context) error { return Drop(ctx, s.DB, s.Product, s.Prefix) }

// Drop removes the tables of a prefix.
func Drop(ctx context.Context, db *sql.DB, product, prefix string) error {
	if _, err := db.ExecContext(ctx, "DROP TABLE IF EXISTS "+prefix+"_effects, "+prefix+"_claims"); err != nil {
		return fmt.Errorf("%s: remove tables %s_*: %w", product, prefix, err)
	}
	return nil
}

// Name says what it is.
func (s *Store) Name() string { return s.Product + " (" + string(s.Mode) + ")" }

func arguments(k effects.Key) []any {
	return []any{k.Subscription, int64(k.ID.Producer), int64(k.ID.Seq)}
}

// Begin claims the key in the mode Claim, and looks it up in Transactional.
func (s *Store) Begin(ctx context.Context, k effects.Key, worker string) (effects.Start, error) {
	s.Clock.Check(ctx)
	switch s.Mode {
	case effects.Transactional:
		count, err := s.count(ctx, s.DB, k)
		if count > 0 {
			return effects.Done, err
		}
		return effects.Proceed, err
	case effects.Claim:
		return s.claim(ctx, k, worker)
	}
	return effects.Proceed, nil
}

func (s *Store) claim(ctx context.Context, k effects.Key, worker string) (effects.Start, error) {
	now := s.Clock.Now()
	got, err := s.DB.ExecContext(ctx, s.statements[take], append(arguments(k), worker, int64(now+s.Lease), int64(now))...)
	if err != nil {
		return effects.Busy, fmt.Errorf("%s: claim %s: %w", s.Product, k.ID, err)
	}
	if n, err := got.RowsAffected(); err != nil || n > 0 {
		return effects.Proceed, err
	}
	var finished int
	err = s.DB.QueryRowContext(ctx, s.statements[done], arguments(k)...).Scan(&finished)
	if err != nil {
		return effects.Busy, fmt.Errorf("%s: claim %s: %w", s.Product, k.ID, err)
	}
	if finished > 0 {
		return effects.Done, nil
	}
	return effects.Busy, nil
}

// Apply adds the effect as the mode says.
func (s *Store) Apply(ctx context.Context, k effects.Key, worker string) (effects.Result, error) {
	s.Clock.Check(ctx)
	switch s.Mode {
	case effects.None:
		return effects.Result{Skipped: true}, nil
	case effects.Plain:
		return s.write(ctx, again, k)
	case effects.Upsert:
		return s.write(ctx, upsert, k)
	}
	var result effects.Result
	err := s.together(ctx, func(tx *sql.Tx) (err error) {
		if s.Mode == effects.Claim {
			result, err = s.claimed(ctx, tx, k, worker)
			return err
		}
		result, err = s.first(ctx, tx, k)
		return err
	})
	return result, err
}

func (s *Store) write(ctx context.Context, text string, k effects.Key) (effects.Result, error) {
	var count int
	if err := s.DB.QueryRowContext(ctx, s.statements[text], arguments(k)...).Scan(&count); err != nil {
		return effects.Result{}, fmt.Errorf("%s: effect of %s: %w", s.Product, k.ID, err)
	}
	return effects.Result{Count: count}, nil
}

// together runs a transaction.
func (s *Store) together(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := s.DB.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("%s: begin: %w", s.Product, err)
	}
	if err := do(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("%s: commit: %w", s.Product, err)
	}
	return nil
}

// claimed adds the effect only for the worker that still holds the claim.
func (s *Store) claimed(ctx context.Context, tx *sql.Tx, k effects.Key, worker string) (effects.Result, error) {
	got, err := tx.ExecContext(ctx, s.statements[finish], append(arguments(k), worker)...)
	if err != nil {
		return effects.Result{}, fmt.Errorf("%s: effect of %s: %w", s.Product, k.ID, err)
	}
	if n, err := got.RowsAffected(); err != nil || n == 0 {
		count, counted := s.count(ctx, tx, k)
		return effects.Result{Refused: true, Count: count}, errors.Join(err, counted)
	}
	var count int
	if err := tx.QueryRowContext(ctx, s.statements[again], arguments(k)...).Scan(&count); err != nil {
		return effects.Result{}, fmt.Errorf("%s: effect of %s: %w", s.Product, k.ID, err)
	}
	return effects.Result{Count: count}, nil
}

// first adds the effect unless the id is known.
func (s *Store) first(ctx context.Context, tx *sql.Tx, k effects.Key) (effects.Result, error) {
	got, err := tx.ExecContext(ctx, s.statements[once], arguments(k)...)
	if err != nil {
		return effects.Result{}, fmt.Errorf("%s: effect of %s: %w", s.Product, k.ID, err)
	}
	n, err := got.RowsAffected()
	return effects.Result{Skipped: n == 0, Count: 1}, err
}

type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Count is the number of effects of a key.
func (s *Store) Count(ctx context.Context, k effects.Key) (int, error) {
	s.Clock.Check(ctx)
	return s.count(ctx, s.DB, k)
}

func (s *Store) count(ctx context.Context, from querier, k effects.Key) (int, error) {
	var count int
	err := from.QueryRowContext(ctx, s.statements[held], arguments(k)...).Scan(&count)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("%s: count %s: %w", s.Product, k.ID, err)
	}
	return count, nil
}

// Each tells the effects of a subscription.
func (s *Store) Each(ctx context.Context, subscription string, tell func(id msg.ID, count int)) error {
	s.Clock.Check(ctx)
	rows, err := s.DB.QueryContext(ctx, s.statements[all], subscription)
	if err != nil {
		return fmt.Errorf("%s: effects of %s: %w", s.Product, subscription, err)
	}
	defer rows.Close()
	for rows.Next() {
		var id msg.ID
		var count int
		if err := rows.Scan(&id.Producer, &id.Seq, &count); err != nil {
			return fmt.Errorf("%s: effects of %s: %w", s.Product, subscription, err)
		}
		tell(id, count)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("%s: effects of %s: %w", s.Product, subscription, err)
	}
	return nil
}

// Close closes the database.
func (s *Store) Close() error { return s.DB.Close() }
