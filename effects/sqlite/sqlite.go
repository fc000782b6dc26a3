// SPDX-License-Identifier: Apache-2.0

// Package sqlite keeps effects in a SQLite file, through a driver in pure Go. It is the
// store on disk that needs nothing installed.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"time"

	_ "modernc.org/sqlite" // the driver of database/sql

	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/effects"
	"github.com/seed-720a3c77/harness/effects/relational"
)

// Open makes a store in a file that may hold others, under a prefix of its own. Several
// processes may open one file; a writer waits up to ten seconds for another.
func Open(ctx context.Context, clk clock.Clock, file, prefix string, mode effects.Mode, lease time.Duration) (effects.Store, error) {
	pragmas := url.Values{"_pragma": {"journal_mode(WAL)", "synchronous(NORMAL)", "busy_timeout(10000)"}, "_txlock": {"immediate"}}
	db, err := sql.Open("sqlite", "file:"+file+"?"+pragmas.Encode())
	if err != nil {
		return nil, fmt.Errorf("sqlite: %w", err)
	}
	db.SetMaxOpenConns(1)
	store, err := relational.New(ctx, relational.Config{Product: "sqlite", DB: db, Prefix: prefix, Mode: mode, Clock: clk, Lease: lease})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return store, nil
}
