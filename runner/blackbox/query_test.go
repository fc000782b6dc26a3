// SPDX-License-Identifier: Apache-2.0

package blackbox

import (
	"database/sql"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/effects/sqlite"
)

func TestQuery(t *testing.T) {
	file := filepath.Join(t.TempDir(), "payments.db")
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	do := func(text string) {
		t.Helper()
		if _, err := db.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(text string) *Query {
		t.Helper()
		reader, err := sqlite.Reader(file)
		if err != nil {
			t.Fatal(err)
		}
		q := NewQuery(t.Context(), reader, text)
		t.Cleanup(func() { q.Close() })
		return q
	}
	const grouped, rows = "select id, count(*) from payments group by id", "select id, 1 from payments"
	early := ask(grouped)
	if err := early.Look(t.Context(), told{}); !errors.Is(err, ErrEffects) {
		t.Errorf("before there is a table: %v", err)
	}
	do("create table payments (id text, paid integer); insert into payments values ('old', 1)")
	q, each := ask(grouped), ask(rows)
	do("insert into payments values ('a', 1), ('a', 2), ('b', 1)")
	for name, q := range map[string]*Query{"grouped": q, "rows": each} {
		got := told{}
		if err := q.Look(t.Context(), got); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		want(t, got, map[string]int{"a": 2, "b": 1}) // not what was there before
	}
	if err := ask(grouped).Look(t.Context(), told{}); !errors.Is(err, ErrUsed) {
		t.Errorf("a store with effects of the run's ids: %v", err)
	}
	for text, says := range map[string]string{
		"select id from payments": "1 columns",
		"selekt":                  "syntax error",
		"select null, 1":          "without an id",
		"select 'a', -1":          "at least 0",
		"select 'a', 'many'":      "Scan",
		"select id, count(*) from refunds group by 1": "no such table",
	} {
		if err := ask(text).Look(t.Context(), told{}); !errors.Is(err, ErrEffects) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
}
