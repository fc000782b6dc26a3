// SPDX-License-Identifier: Apache-2.0

// Package postgres keeps effects in a PostgreSQL database: one that runs already, by its
// DSN, or one that Start runs, with the programs of the system or, where it has none, with
// those that embedded-postgres publishes. Its Go library is not used: it has no way to run
// the server as another user, which root needs.
package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver of database/sql

	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/effects"
	"github.com/seed-720a3c77/harness/effects/relational"
)

// Open makes a store under a prefix of its own, whose tables go when it is closed. The DSN
// may hold a password: it comes from the environment, and is in no error of this package.
func Open(ctx context.Context, clk clock.Clock, dsn, prefix string, mode effects.Mode, lease time.Duration) (effects.Store, error) {
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		return nil, errors.New("postgres: the DSN cannot be read")
	}
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("postgres: the database does not answer: %w", unwrapped(err)), db.Close())
	}
	store, err := relational.New(ctx, relational.Config{Product: "postgres", DB: db, Prefix: prefix, Mode: mode, Clock: clk, Lease: lease, Numbered: true})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &temporary{store}, nil
}

// temporary is a store in a database that outlives it.
type temporary struct{ *relational.Store }

// removePatience bounds how long tables may be kept from being removed by who reads them.
const removePatience = 10 * time.Second

// Close removes the tables too.
func (s *temporary) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), removePatience)
	defer cancel()
	return errors.Join(s.Drop(ctx), s.Store.Close())
}

// Remove removes the tables of a store that was not closed, if they are there.
func Remove(ctx context.Context, dsn, prefix string) error {
	db, err := Reader(dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(ctx, removePatience)
	defer cancel()
	if err := db.PingContext(ctx); err != nil {
		return fmt.Errorf("postgres: the database does not answer: %w", unwrapped(err))
	}
	return relational.Drop(ctx, db, "postgres", prefix)
}

// unwrapped is the innermost cause: the outer errors of the driver repeat parts of the DSN.
func unwrapped(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
