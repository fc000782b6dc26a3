// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
)

// oldDriver is a driver as they were before contexts: one table of ids, which a statement
// adds to or counts.
type oldDriver struct {
	mu   sync.Mutex
	rows []string
}

type oldConn struct {
	d       *oldDriver
	pending []string
	inTx    bool
}

type oldStmt struct {
	c     *oldConn
	query string
}

type oldRows struct{ left [][]driver.Value }

func (d *oldDriver) Open(string) (driver.Conn, error) { return &oldConn{d: d}, nil }

func (c *oldConn) Prepare(query string) (driver.Stmt, error) {
	if !strings.HasPrefix(query, "ADD") && !strings.HasPrefix(query, "SELECT") {
		return nil, errors.New("syntax error")
	}
	return &oldStmt{c, query}, nil
}
func (c *oldConn) Close() error              { return nil }
func (c *oldConn) Begin() (driver.Tx, error) { c.inTx = true; return c, nil }
func (c *oldConn) Rollback() error           { c.pending, c.inTx = nil, false; return nil }

func (c *oldConn) Commit() error {
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	c.d.rows = append(c.d.rows, c.pending...)
	c.pending, c.inTx = nil, false
	return nil
}

func (s *oldStmt) Close() error  { return nil }
func (s *oldStmt) NumInput() int { return 1 }

func (s *oldStmt) Exec(args []driver.Value) (driver.Result, error) {
	s.c.pending = append(s.c.pending, args[0].(string))
	if s.c.inTx {
		return driver.RowsAffected(1), nil
	}
	return driver.RowsAffected(1), s.c.Commit()
}

func (s *oldStmt) Query(args []driver.Value) (driver.Rows, error) {
	s.c.d.mu.Lock()
	defer s.c.d.mu.Unlock()
	n := int64(0)
	for _, id := range s.c.d.rows {
		if id == args[0].(string) {
			n++
		}
	}
	return &oldRows{[][]driver.Value{{n}}}, nil
}

func (r *oldRows) Columns() []string { return []string{"n"} }
func (r *oldRows) Close() error      { return nil }
func (r *oldRows) Next(dest []driver.Value) error {
	if len(r.left) == 0 {
		return io.EOF
	}
	copy(dest, r.left[0])
	r.left = r.left[1:]
	return nil
}

// openOld is the one pool of a scenario: the driver is wrapped, and nobody owns it.
func openOld(e Env) *sql.DB {
	return Survivor(e, "pool", func() *sql.DB {
		db := sql.OpenDB(&sqlConnector{driver: WrapDriver(Survivor(e, "driver", func() *oldDriver { return &oldDriver{} }))})
		e.Cleanup(func() { _ = db.Close() })
		return db
	})
}

func countOld(e Env) (map[string]int, error) {
	d := Survivor(e, "driver", func() *oldDriver { return &oldDriver{} })
	return countOf(d.rows), nil
}

// oldLookFirst looks and then adds, in one transaction that isolates nothing.
func oldLookFirst(e Env) Handler {
	db := openOld(e)
	return func(ctx context.Context, m Message) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		var n int
		if err := tx.QueryRowContext(ctx, "SELECT count", m.ID).Scan(&n); err != nil || n > 0 {
			return err
		}
		if _, err := tx.ExecContext(ctx, "ADD", m.ID); err != nil {
			return err
		}
		return tx.Commit()
	}
}

// TestWrapDriver: a driver without contexts is enough, and a wrapped one finds the call by
// the context of the statement.
func TestWrapDriver(t *testing.T) {
	for _, p := range []Profile{Kafka, SQSStandard, RabbitMQClassic} {
		found, _ := hunt(t, single(oldLookFirst, Counts(countOld)), p, 200)
		if found == nil {
			t.Errorf("%s: nothing was found", p)
			continue
		}
		if found.cause != checkThenAct() {
			t.Errorf("%s: named %q\n%s", p, found.cause.name, found.story(t.Name()))
		}
	}
}

// TestWrapDriverOutside: outside of a handler's call everything passes.
func TestWrapDriverOutside(t *testing.T) {
	d := &oldDriver{}
	db := sql.OpenDB(&sqlConnector{driver: WrapDriver(d)})
	defer db.Close()
	if _, err := db.Exec("ADD", "a"); err != nil {
		t.Fatal(err)
	}
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("ADD", "b"); err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := db.QueryRow("SELECT count", "a").Scan(&n); err != nil || n != 1 {
		t.Errorf("a is there %d times, %v; want once", n, err)
	}
	if err := db.QueryRow("SELECT count", "b").Scan(&n); err != nil || n != 0 {
		t.Errorf("b is there %d times, %v; want never", n, err)
	}
	if _, err := db.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true}); err == nil {
		t.Error("a read-only transaction began on a driver that has none")
	}
	if _, err := db.Exec("DROP", "a"); err == nil {
		t.Error("a wrong statement was prepared")
	}
}
