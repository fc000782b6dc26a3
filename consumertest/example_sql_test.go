// SPDX-License-Identifier: Apache-2.0

package consumertest_test

import (
	"context"
	"database/sql"
	"testing"

	"modernc.org/sqlite"

	"github.com/seed-720a3c77/harness/consumertest"
)

// open is the same file in every process of a scenario.
func open(env consumertest.Env) *sql.DB {
	return env.OpenDB(&sqlite.Driver{}, "file:"+env.Dir()+"/shop.db?_pragma=synchronous(OFF)")
}

func createTables(env consumertest.Env) error {
	_, err := open(env).Exec(`CREATE TABLE payments (event TEXT); CREATE TABLE done (event TEXT PRIMARY KEY)`)
	return err
}

// newChecking asks the table of done events first, in a statement of its own.
func newChecking(env consumertest.Env) consumertest.Handler {
	db := open(env)
	return func(ctx context.Context, m consumertest.Message) error {
		var known bool
		err := db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM done WHERE event = ?)`, m.ID).Scan(&known)
		if err != nil || known {
			return err
		}
		return inTransaction(ctx, db, func(tx *sql.Tx) error {
			if _, err := tx.ExecContext(ctx, `INSERT INTO payments VALUES (?)`, m.ID); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO done VALUES (?)`, m.ID)
			return err
		})
	}
}

// newUnique lets the primary key decide, inside of the transaction.
func newUnique(env consumertest.Env) consumertest.Handler {
	db := open(env)
	return func(ctx context.Context, m consumertest.Message) error {
		return inTransaction(ctx, db, func(tx *sql.Tx) error {
			first, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO done VALUES (?)`, m.ID)
			if err != nil {
				return err
			}
			if n, err := first.RowsAffected(); err != nil || n == 0 {
				return err
			}
			_, err = tx.ExecContext(ctx, `INSERT INTO payments VALUES (?)`, m.ID)
			return err
		})
	}
}

func inTransaction(ctx context.Context, db *sql.DB, do func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := do(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// The effects are rows of a table, counted by a query. Every statement is a place where
// another worker may get the event, or this one may die.
func ExampleEnv_OpenDB() {
	options := []consumertest.Option{
		consumertest.On(consumertest.SQSStandard),
		consumertest.Setup(createTables),
		consumertest.CountQuery(`SELECT event, count(*) FROM payments GROUP BY event`),
	}
	goTest("TestChecking", func(t *testing.T) { consumertest.Run(t, newChecking, options...) })
	goTest("TestUnique", func(t *testing.T) { consumertest.Run(t, newUnique, options...) })

	// Output:
	// TestChecking: FAIL
	//   event-1 took effect twice
	//   pattern check-then-act
	// TestUnique: ok
}
