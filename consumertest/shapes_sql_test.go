// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"context"
	"database/sql"
)

// Handlers with a database that are wrong.

// inOneTx runs fn in a transaction.
func inOneTx(ctx context.Context, db *sql.DB, fn func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// sqlTwoTransactions looks in one transaction and writes in another.
func sqlTwoTransactions(e Env) Handler {
	db := orders(e)
	return func(ctx context.Context, m Message) error {
		var known int
		if err := inOneTx(ctx, db, func(tx *sql.Tx) error {
			return tx.QueryRowContext(ctx, "SELECT count(*) FROM payments WHERE event = ?", m.ID).Scan(&known)
		}); err != nil || known > 0 {
			return err
		}
		return inOneTx(ctx, db, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, "INSERT INTO payments VALUES (?)", m.ID)
			return err
		})
	}
}

// sqlClaimFirst inserts the key in a statement of its own, and takes a key that is there for done.
func sqlClaimFirst(e Env) Handler {
	db := orders(e)
	return func(ctx context.Context, m Message) error {
		claimed, err := db.ExecContext(ctx, "INSERT OR IGNORE INTO seen VALUES (?)", m.ID)
		if err != nil {
			return err
		}
		if n, err := claimed.RowsAffected(); err != nil || n == 0 {
			return err
		}
		_, err = db.ExecContext(ctx, "INSERT INTO payments VALUES (?)", m.ID)
		return err
	}
}

// createBalances makes the tables of the accounts.
func createBalances(e Env) error {
	_, err := orders(e).Exec("CREATE TABLE balances (customer TEXT PRIMARY KEY, amount INTEGER NOT NULL); CREATE TABLE seen (event TEXT PRIMARY KEY)")
	return err
}

// balances is their state.
func balances(e Env) (map[string]string, error) {
	rows, err := orders(e).Query("SELECT customer, amount FROM balances")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := map[string]string{}
	for rows.Next() {
		var customer, amount string
		if err := rows.Scan(&customer, &amount); err != nil {
			return nil, err
		}
		all[customer] = amount
	}
	return all, rows.Err()
}

// sqlIncrements adds to a balance, each time.
func sqlIncrements(e Env) Handler {
	db := orders(e)
	return func(ctx context.Context, m Message) error {
		_, err := db.ExecContext(ctx, "INSERT INTO balances VALUES (?, 10) ON CONFLICT DO UPDATE SET amount = amount + 10", m.Key)
		return err
	}
}

// sqlReadsFirst reads a balance before the transaction that knows its events.
func sqlReadsFirst(e Env) Handler {
	db := orders(e)
	return func(ctx context.Context, m Message) error {
		var amount int
		if err := db.QueryRowContext(ctx, "SELECT coalesce(sum(amount), 0) FROM balances WHERE customer = ?", m.Key).Scan(&amount); err != nil {
			return err
		}
		return inOneTx(ctx, db, func(tx *sql.Tx) error {
			noted, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO seen VALUES (?)", m.ID)
			if err != nil {
				return err
			}
			if n, err := noted.RowsAffected(); err != nil || n == 0 {
				return err
			}
			_, err = tx.ExecContext(ctx, "INSERT OR REPLACE INTO balances VALUES (?, ?)", m.Key, amount+10)
			return err
		})
	}
}

func sqlMistakes() []mistake {
	some := []Profile{Kafka, SQSStandard, RabbitMQQuorum}
	return []mistake{
		{"two transactions in SQL", some, single(sqlTwoTransactions, Setup(createTables), CountQuery(countPayments)), checkThenAct()},
		{"claim first in SQL", some, single(sqlClaimFirst, Setup(createTables), CountQuery(countPayments)), claimBeforeWork()},
		{"increments in SQL", some, single(sqlIncrements, Setup(createBalances), State(balances)), noDeduplication()},
		{"reads first in SQL", []Profile{SQSStandard, RabbitMQQuorum}, single(sqlReadsFirst, Setup(createBalances), State(balances)), lostUpdate()},
	}
}
