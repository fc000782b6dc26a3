// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
)

// WrapDriver makes every statement and commit of a database/sql driver a place where a
// schedule can hold, fail or crash the handler. Statements belong to the handler's call
// whose context they are given; those without one pass. Env.OpenDB is the shorter way,
// and knows the process even where a context was dropped.
//
// A crash looks like a broken connection to the code that still runs: the statement
// fails, nothing it does afterwards reaches the database, and its transaction is rolled
// back.
func WrapDriver(d driver.Driver) driver.Driver { return sqlDriver{d} }

type sqlDriver struct{ driver.Driver }

func (d sqlDriver) Open(dsn string) (driver.Conn, error) {
	c, err := d.Driver.Open(dsn)
	if err != nil {
		return nil, err
	}
	return &sqlConn{Conn: c}, nil
}

// OpenDB opens a database of the process: a crash breaks its connections and rolls back
// what was not committed. It is closed when the scenario ends.
//
// A driver that waits for a lock by sleeping for real, as modernc.org/sqlite does with
// busy_timeout, should not wait here: a held transaction is held in virtual time.
//
// The database itself must outlive the process: a file below Env.Dir, or a database in
// memory that connections share. One behind a network needs RealTime.
func (e Env) OpenDB(d driver.Driver, dsn string) *sql.DB {
	db := sql.OpenDB(&sqlConnector{driver: d, dsn: dsn, owner: e.process})
	e.world.mu.Lock()
	defer e.world.mu.Unlock()
	e.world.database = &sqlConnector{driver: d, dsn: dsn}
	e.world.cleanups = append(e.world.cleanups, func() { _ = db.Close() })
	return db
}

// sqlConnector makes connections, of a process or, for an observer, of nobody.
type sqlConnector struct {
	driver driver.Driver
	dsn    string
	owner  *process
}

func (c *sqlConnector) Driver() driver.Driver { return c.driver }

func (c *sqlConnector) Connect(ctx context.Context) (driver.Conn, error) {
	if c.owner != nil && c.owner.isDead() {
		return nil, errCrashed
	}
	conn, err := c.open(ctx)
	if err != nil || c.owner == nil {
		return conn, err
	}
	wrapped := &sqlConn{Conn: conn, owner: c.owner}
	c.owner.whenCrashed(wrapped.sever)
	return wrapped, nil
}

func (c *sqlConnector) open(ctx context.Context) (driver.Conn, error) {
	d, ok := c.driver.(driver.DriverContext)
	if !ok {
		return c.driver.Open(c.dsn)
	}
	connector, err := d.OpenConnector(c.dsn)
	if err != nil {
		return nil, err
	}
	return connector.Connect(ctx)
}

var errCrashed = errors.New("consumertest: the process has crashed")

// CountQuery counts effects with a query that returns rows of event id and number, on the
// database that the handler opened with Env.OpenDB. A query that fails fails the test.
func CountQuery(query string) Option {
	return observe("query", func(e Env) (sighting, error) {
		counts, err := e.world.query(query)
		return sighting{counts: counts}, err
	})
}

func (w *world) query(query string) (map[string]int, error) {
	w.mu.Lock()
	connector := w.database
	w.mu.Unlock()
	if connector == nil {
		return nil, errors.New("the handler opened no database with Env.OpenDB")
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	return QueryCounts(context.Background(), db, query)
}

// QueryCounts runs a query that returns rows of event id and number.
func QueryCounts(ctx context.Context, db *sql.DB, query string) (map[string]int, error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("count effects: %w", err)
	}
	defer rows.Close()
	counts := map[string]int{}
	for rows.Next() {
		var id string
		var n int
		if err := rows.Scan(&id, &n); err != nil {
			return nil, fmt.Errorf("count effects: want rows of event id and number: %w", err)
		}
		counts[id] += n
	}
	return counts, rows.Err()
}
