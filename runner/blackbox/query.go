// SPDX-License-Identifier: Apache-2.0

package blackbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// Query is a Source that asks a SQL database for ids and counts. Rows of one id are added up.
type Query struct {
	DB   *sql.DB
	Text string
	// old are the rows that were there before the run; the store need not be empty.
	old  map[string]int
	told bool
}

// NewQuery asks once before the program runs: what is there already is not of this run. A
// table that is missing then is made by the program.
func NewQuery(ctx context.Context, db *sql.DB, text string) *Query {
	q := &Query{DB: db, Text: text}
	q.old, _ = q.ask(ctx) // what still fails in the end is told then
	return q
}

// Look implements Source.
func (q *Query) Look(ctx context.Context, tell Tell) error {
	if err := q.before(tell); err != nil {
		return err
	}
	found, err := q.ask(ctx)
	if err != nil {
		return fmt.Errorf("%w: query: %s", ErrEffects, strings.Join(strings.Fields(err.Error()), " ")) // the drivers' errors have many lines
	}
	for id, count := range found {
		if q.old[id] == count {
			continue
		}
		if err := tell.Stands(id, count); err != nil {
			return err
		}
	}
	return nil
}

// before tells once what was there.
func (q *Query) before(tell Tell) error {
	if q.told {
		return nil
	}
	q.told = true
	for id := range q.old {
		if err := tell.Before(id); err != nil {
			return err
		}
	}
	return nil
}

func (q *Query) ask(ctx context.Context) (map[string]int, error) {
	rows, err := q.DB.QueryContext(ctx, q.Text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	if len(columns) != 2 {
		return nil, fmt.Errorf("gives %d columns; want two: id and count", len(columns))
	}
	found := map[string]int{}
	for rows.Next() {
		var id sql.NullString
		var count sql.NullInt64
		switch err := rows.Scan(&id, &count); {
		case err != nil:
			return nil, err
		case !id.Valid || !count.Valid || count.Int64 < 0:
			return nil, errors.New("gives a row without an id, or without a count of at least 0")
		}
		found[id.String] += int(count.Int64)
	}
	return found, rows.Err()
}

// Close implements Source.
func (q *Query) Close() error { return q.DB.Close() }
