// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"modernc.org/sqlite"
)

// orders is a database of a scenario that several processes open.
func orders(e Env) *sql.DB {
	db := e.OpenDB(&sqlite.Driver{}, "file:"+e.Dir()+"/orders.db?_pragma=busy_timeout(2000)&_pragma=journal_mode(MEMORY)&_pragma=synchronous(OFF)")
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

var errCount = errors.New("no such table")

func TestSQL(t *testing.T) {
	found, n := hunt(t, single(sqlLookFirst, Setup(createTables), CountQuery(countPayments)), RabbitMQQuorum, 200)
	t.Log(n)
	t.Log(found.story(t.Name()))
	found, n = hunt(t, single(sqlOnce, Setup(createTables), CountQuery(countPayments)), SQSStandard, 300)
	t.Log(n)
	if found != nil {
		t.Error(found.story(t.Name()))
	}
}
