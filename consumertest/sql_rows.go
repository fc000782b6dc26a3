// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"database/sql/driver"
	"io"
	"math"
	"reflect"
)

// held guards rows as soon as they are there.
func (c *sqlConn) held(r driver.Rows, err error) (driver.Rows, error) {
	if err != nil {
		return nil, err
	}
	wrapped := &sqlRows{Rows: r, conn: c}
	c.hold(wrapped, r.Close)
	return wrapped, nil
}

// rows closes what nobody will read, because the answer was lost.
func (c *sqlConn) rows(r driver.Rows, err error) (driver.Rows, error) {
	if err != nil && r != nil {
		_ = r.Close()
		return nil, err
	}
	return r, err
}

// sqlRows does not touch the rows of a connection that a crash has closed.
type sqlRows struct {
	driver.Rows
	conn *sqlConn
}

var (
	_ driver.RowsNextResultSet              = (*sqlRows)(nil)
	_ driver.RowsColumnTypeScanType         = (*sqlRows)(nil)
	_ driver.RowsColumnTypeDatabaseTypeName = (*sqlRows)(nil)
	_ driver.RowsColumnTypeLength           = (*sqlRows)(nil)
	_ driver.RowsColumnTypeNullable         = (*sqlRows)(nil)
	_ driver.RowsColumnTypePrecisionScale   = (*sqlRows)(nil)
)

func (r *sqlRows) Close() error { return r.conn.release(r) }

func (r *sqlRows) Next(dest []driver.Value) error {
	return r.conn.use(func() error { return r.Rows.Next(dest) })
}

func (r *sqlRows) HasNextResultSet() bool {
	n, ok := r.Rows.(driver.RowsNextResultSet)
	return ok && !r.conn.isBroken() && n.HasNextResultSet()
}

func (r *sqlRows) NextResultSet() error {
	if n, ok := r.Rows.(driver.RowsNextResultSet); ok && !r.conn.isBroken() {
		return n.NextResultSet()
	}
	return io.EOF
}

func (r *sqlRows) ColumnTypeScanType(i int) reflect.Type {
	if t, ok := r.Rows.(driver.RowsColumnTypeScanType); ok {
		return t.ColumnTypeScanType(i)
	}
	return reflect.TypeFor[any]()
}

func (r *sqlRows) ColumnTypeDatabaseTypeName(i int) string {
	if t, ok := r.Rows.(driver.RowsColumnTypeDatabaseTypeName); ok {
		return t.ColumnTypeDatabaseTypeName(i)
	}
	return ""
}

func (r *sqlRows) ColumnTypeLength(i int) (int64, bool) {
	if t, ok := r.Rows.(driver.RowsColumnTypeLength); ok {
		return t.ColumnTypeLength(i)
	}
	return 0, false
}

func (r *sqlRows) ColumnTypeNullable(i int) (nullable, ok bool) {
	if t, ok := r.Rows.(driver.RowsColumnTypeNullable); ok {
		return t.ColumnTypeNullable(i)
	}
	return false, false
}

func (r *sqlRows) ColumnTypePrecisionScale(i int) (precision, scale int64, ok bool) {
	if t, ok := r.Rows.(driver.RowsColumnTypePrecisionScale); ok {
		return t.ColumnTypePrecisionScale(i)
	}
	return math.MaxInt64, math.MaxInt64, false
}
