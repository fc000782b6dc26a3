// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"context"
	"database/sql"

	"modernc.org/sqlite"
)

// orders is a database of a scenario that several processes open.
func orders(e Env) *sql.DB {
	db := e.OpenDB(&sqlite.Driver{}, "file:"+e.Dir()+"/orders.db?_pragma=journal_mode(MEMORY)&_pragma=synchronous(OFF)")
	db.SetMaxOpenConns(1)
	return db
}

func createTables(e Env) error {
	_, err := orders(e).Exec("CREATE TABLE payments (event TEXT); CREATE TABLE seen (event TEXT PRIMARY KEY)")
	return err
}

const countPayments = "SELECT event, count(*) FROM payments GROUP BY event"

// sqlLookFirst looks before it takes a transaction.
func sqlLookFirst(e Env) Handler {
	db := orders(e)
	return func(ctx context.Context, m Message) error {
		var n int
		if err := db.QueryRowContext(ctx, "SELECT count(*) FROM seen WHERE event = ?", m.ID).Scan(&n); err != nil || n > 0 {
			return err
		}
		if _, err := db.ExecContext(ctx, "INSERT INTO payments VALUES (?)", m.ID); err != nil {
			return err
		}
		_, err := db.ExecContext(ctx, "INSERT OR IGNORE INTO seen VALUES (?)", m.ID)
		return err
	}
}

// sqlOnce puts key and effect into one transaction.
func sqlOnce(e Env) Handler {
	db := orders(e)
	return func(ctx context.Context, m Message) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		done, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO seen VALUES (?)", m.ID)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO payments VALUES (?)", m.ID); err != nil {
			return err
		}
		return tx.Commit()
	}
}

// leaky is a pool that nobody closes.
func leaky() *sql.DB {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		panic(err)
	}
	return db
}
