// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"context"
	"database/sql/driver"
	"errors"
	"strings"
	"sync"
)

// sqlConn is a connection whose statements are operations of a schedule.
type sqlConn struct {
	driver.Conn
	// owner is the process that opened it; nil where the context has to tell.
	owner *process

	mu     sync.Mutex // never held across a call of the driver
	inUse  bool
	broken bool
	tx     driver.Tx
	// open are rows and statements that hold the connection, and maybe locks.
	open map[any]func() error
	// begun is the context of the transaction under way.
	begun context.Context
}

var (
	_ driver.ConnPrepareContext = (*sqlConn)(nil)
	_ driver.ConnBeginTx        = (*sqlConn)(nil)
	_ driver.ExecerContext      = (*sqlConn)(nil)
	_ driver.QueryerContext     = (*sqlConn)(nil)
	_ driver.Pinger             = (*sqlConn)(nil)
	_ driver.SessionResetter    = (*sqlConn)(nil)
	_ driver.Validator          = (*sqlConn)(nil)
	_ driver.NamedValueChecker  = (*sqlConn)(nil)
)

// operate makes one call of the driver an operation of the schedule.
func (c *sqlConn) operate(ctx context.Context, text string, apply func() error) error {
	p := c.owner
	if p == nil {
		if call, ok := ctx.Value(callKey{}).(*call); ok {
			p = call.process
		}
	}
	if p == nil {
		return apply()
	}
	op := &operation{text: "sql: " + oneLine(text), kind: kindOf(text), yielding: true, also: c.transaction()}
	return p.operate(ctx, op, func() error { return c.use(apply) })
}

// use keeps a crash from closing the connection under a call of the driver.
func (c *sqlConn) use(apply func() error) error {
	if !c.take() {
		return errCrashed
	}
	err := apply()
	c.mu.Lock()
	c.inUse = false
	broken := c.broken
	c.mu.Unlock()
	if broken {
		c.closeBroken()
		return errCrashed
	}
	return err
}

func (c *sqlConn) take() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inUse = !c.broken
	return !c.broken
}

// sever breaks the connection, as the end of its process does.
func (c *sqlConn) sever() {
	c.mu.Lock()
	busy, broken := c.inUse, c.broken
	c.broken = true
	c.mu.Unlock()
	if !busy && !broken {
		c.closeBroken()
	}
}

// closeBroken lets the database see that nobody is there any more.
func (c *sqlConn) closeBroken() {
	c.mu.Lock()
	tx, open := c.tx, c.open
	c.open = nil
	c.mu.Unlock()
	for _, end := range open {
		_ = end()
	}
	if tx != nil {
		_ = tx.Rollback()
	}
	_ = c.Conn.Close()
}

// hold and release keep what has to be closed with the connection.
func (c *sqlConn) hold(what any, end func() error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		c.open = map[any]func() error{}
	}
	c.open[what] = end
}

// release closes it, unless a crash has.
func (c *sqlConn) release(what any) error {
	err := c.use(func() error {
		c.mu.Lock()
		end := c.open[what]
		delete(c.open, what)
		c.mu.Unlock()
		if end == nil {
			return nil
		}
		return end()
	})
	if errors.Is(err, errCrashed) {
		return nil
	}
	return err
}

// began says which transaction is under way, and its context.
func (c *sqlConn) began(ctx context.Context, tx driver.Tx) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun, c.tx = ctx, tx
}

// ended says that none is.
func (c *sqlConn) ended() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun, c.tx = nil, nil
}

// transaction is the context of the one under way.
func (c *sqlConn) transaction() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.begun
}

func (c *sqlConn) isBroken() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.broken
}

// Close closes the connection, unless a crash has.
func (c *sqlConn) Close() error {
	if c.isBroken() {
		return nil
	}
	return c.Conn.Close()
}

// Prepare and PrepareContext wrap the statement: it is run later.
func (c *sqlConn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

func (c *sqlConn) PrepareContext(ctx context.Context, query string) (s driver.Stmt, err error) {
	err = c.use(func() error {
		s, err = c.prepare(ctx, query)
		return err
	})
	if err != nil {
		return nil, err
	}
	wrapped := &sqlStmt{Stmt: s, conn: c, query: query}
	c.hold(wrapped, s.Close)
	return wrapped, nil
}

func (c *sqlConn) prepare(ctx context.Context, query string) (driver.Stmt, error) {
	if p, ok := c.Conn.(driver.ConnPrepareContext); ok {
		return p.PrepareContext(ctx, query)
	}
	return c.Conn.Prepare(query)
}

// ExecContext runs a statement, or lets database/sql prepare it where the driver wants that.
func (c *sqlConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (r driver.Result, err error) {
	e, ok := c.Conn.(driver.ExecerContext)
	if !ok {
		return nil, driver.ErrSkip
	}
	err = c.operate(ctx, query, func() error {
		r, err = e.ExecContext(ctx, query, args)
		return err
	})
	return r, err
}

// QueryContext runs a query, or lets database/sql prepare it where the driver wants that.
func (c *sqlConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (r driver.Rows, err error) {
	q, ok := c.Conn.(driver.QueryerContext)
	if !ok {
		return nil, driver.ErrSkip
	}
	err = c.operate(ctx, query, func() error {
		r, err = c.held(q.QueryContext(ctx, query, args))
		return err
	})
	return c.rows(r, err)
}

// BeginTx begins a transaction, whose commit is an operation of the schedule.
func (c *sqlConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	var tx driver.Tx
	err := c.use(func() (err error) {
		tx, err = c.begin(ctx, opts)
		return err
	})
	if err != nil {
		return nil, err
	}
	c.began(ctx, tx)
	return &sqlTx{tx: tx, conn: c, ctx: ctx}, nil
}

func (c *sqlConn) begin(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if b, ok := c.Conn.(driver.ConnBeginTx); ok {
		return b.BeginTx(ctx, opts)
	}
	if opts.Isolation != 0 || opts.ReadOnly {
		return nil, errors.New("consumertest: the driver supports neither isolation levels nor read-only transactions")
	}
	return c.Conn.Begin() //nolint:staticcheck // the driver has nothing newer
}

// Ping asks the driver, where it can.
func (c *sqlConn) Ping(ctx context.Context) error {
	if p, ok := c.Conn.(driver.Pinger); ok {
		return c.use(func() error { return p.Ping(ctx) })
	}
	return nil
}

// ResetSession is called before a connection is used again.
func (c *sqlConn) ResetSession(ctx context.Context) error {
	if c.isBroken() {
		return driver.ErrBadConn
	}
	if r, ok := c.Conn.(driver.SessionResetter); ok {
		return r.ResetSession(ctx)
	}
	return nil
}

// IsValid keeps a broken connection out of the pool.
func (c *sqlConn) IsValid() bool {
	if c.isBroken() {
		return false
	}
	v, ok := c.Conn.(driver.Validator)
	return !ok || v.IsValid()
}

// CheckNamedValue passes the driver's own conversion on.
func (c *sqlConn) CheckNamedValue(v *driver.NamedValue) error {
	if n, ok := c.Conn.(driver.NamedValueChecker); ok {
		return n.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

// kindOf guesses what a statement does.
func kindOf(query string) opKind {
	if strings.HasPrefix(strings.ToUpper(strings.TrimSpace(query)), "SELECT") {
		return opLook
	}
	return opWrite
}

const longestStatement = 72

// oneLine is a statement as a story shows it.
func oneLine(query string) string {
	text := strings.Join(strings.Fields(query), " ")
	if runes := []rune(text); len(runes) > longestStatement {
		return string(runes[:longestStatement-1]) + "…"
	}
	return text
}
