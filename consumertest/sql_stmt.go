// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"context"
	"database/sql/driver"
	"errors"
)

// sqlStmt is a prepared statement whose runs are operations of the schedule.
type sqlStmt struct {
	driver.Stmt
	conn  *sqlConn
	query string
}

var (
	_ driver.StmtExecContext   = (*sqlStmt)(nil)
	_ driver.StmtQueryContext  = (*sqlStmt)(nil)
	_ driver.NamedValueChecker = (*sqlStmt)(nil)
)

// ExecContext runs the statement.
func (s *sqlStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (r driver.Result, err error) {
	err = s.conn.operate(ctx, s.query, func() error {
		r, err = s.exec(ctx, args)
		return err
	})
	return r, err
}

func (s *sqlStmt) exec(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	if e, ok := s.Stmt.(driver.StmtExecContext); ok {
		return e.ExecContext(ctx, args)
	}
	values, err := positional(args)
	if err != nil {
		return nil, err
	}
	return s.Stmt.Exec(values) //nolint:staticcheck // the driver has nothing newer
}

// QueryContext runs the query.
func (s *sqlStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (r driver.Rows, err error) {
	err = s.conn.operate(ctx, s.query, func() error {
		r, err = s.conn.held(s.rows(ctx, args))
		return err
	})
	return s.conn.rows(r, err)
}

func (s *sqlStmt) rows(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	if q, ok := s.Stmt.(driver.StmtQueryContext); ok {
		return q.QueryContext(ctx, args)
	}
	values, err := positional(args)
	if err != nil {
		return nil, err
	}
	return s.Stmt.Query(values) //nolint:staticcheck // the driver has nothing newer
}

// CheckNamedValue passes the conversion of the statement on, or else of its connection.
func (s *sqlStmt) CheckNamedValue(v *driver.NamedValue) error {
	if n, ok := s.Stmt.(driver.NamedValueChecker); ok {
		return n.CheckNamedValue(v)
	}
	return s.conn.CheckNamedValue(v)
}

// Close closes the statement, unless a crash closed its connection.
func (s *sqlStmt) Close() error { return s.conn.release(s) }

// positional are the arguments for a driver that knows no names.
func positional(args []driver.NamedValue) ([]driver.Value, error) {
	values := make([]driver.Value, len(args))
	for i, a := range args {
		if a.Name != "" {
			return nil, errors.New("consumertest: the driver does not support named parameters")
		}
		values[i] = a.Value
	}
	return values, nil
}

// sqlTx is a transaction. Its commit is an operation of the schedule, its rollback is
// what happens anyway.
type sqlTx struct {
	tx   driver.Tx
	conn *sqlConn
	ctx  context.Context
}

// Commit commits. Where the schedule lets it fail before it is applied, nothing is.
func (t *sqlTx) Commit() error {
	applied := false
	err := t.conn.operate(t.ctx, "COMMIT", func() error {
		applied = true
		return t.tx.Commit()
	})
	if !applied && !t.conn.isBroken() {
		_ = t.tx.Rollback()
	}
	t.end()
	return err
}

// Rollback rolls back, unless a crash has.
func (t *sqlTx) Rollback() error {
	defer t.end()
	if t.conn.isBroken() {
		return nil
	}
	return t.tx.Rollback()
}

func (t *sqlTx) end() { t.conn.ended() }
