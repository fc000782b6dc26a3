// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"database/sql"
	"net/url"
	"time"
)

// order is what the messages hold.
type order struct {
	EventID  string `json:"event_id"`
	Customer string `json:"customer"`
	Amount   int    `json:"amount"`
}

const schema = `
CREATE TABLE IF NOT EXISTS payments (event_id TEXT NOT NULL, customer TEXT NOT NULL, amount INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS processed (event_id TEXT PRIMARY KEY)`

func open(file string) (*sql.DB, error) {
	options := url.Values{"_pragma": {"busy_timeout(30000)", "journal_mode(WAL)"}, "_txlock": {"immediate"}}
	db, err := sql.Open("sqlite", "file:"+file+"?"+options.Encode())
	if err != nil {
		return nil, err
	}
	_, err = db.Exec(schema)
	return db, err
}

// How long the payment provider takes, and the mail with the receipt.
const (
	provider = 5 * time.Millisecond
	receipt  = 400 * time.Millisecond
)

// runner is a database or a transaction.
type runner interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

func pay(ctx context.Context, db runner, o order) error {
	time.Sleep(provider)
	_, err := db.ExecContext(ctx, "INSERT INTO payments (event_id, customer, amount) VALUES (?, ?, ?)", o.EventID, o.Customer, o.Amount)
	return err
}

// naive checks, pays, and only then notes that it did.
func naive(ctx context.Context, db *sql.DB, o order) error {
	var paid int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM processed WHERE event_id = ?", o.EventID).Scan(&paid); err != nil {
		return err
	}
	if paid > 0 {
		return nil
	}
	if err := pay(ctx, db, o); err != nil {
		return err
	}
	time.Sleep(receipt)
	_, err := db.ExecContext(ctx, "INSERT OR IGNORE INTO processed (event_id) VALUES (?)", o.EventID)
	return err
}

// mended notes and pays together or not at all; who comes second finds the note.
func mended(ctx context.Context, db *sql.DB, o order) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after a commit it does nothing
	noted, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO processed (event_id) VALUES (?)", o.EventID)
	if err != nil {
		return err
	}
	if n, err := noted.RowsAffected(); err != nil || n == 0 {
		return err
	}
	if err := pay(ctx, tx, o); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	time.Sleep(receipt)
	return nil
}
