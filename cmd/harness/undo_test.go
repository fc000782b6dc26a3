// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/effects"
	"github.com/seed-720a3c77/harness/effects/postgres"
	"github.com/seed-720a3c77/harness/internal/testenv"
)

// TestUndoTables: a killed run's tables go, and nobody else's.
func TestUndoTables(t *testing.T) {
	server, err := postgres.Start(t.Context(), nil)
	if errors.Is(err, postgres.ErrUnavailable) {
		testenv.Lacks(t, "postgres", err.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	clk := clock.NewWall(1)
	t.Cleanup(clk.Close)
	open := func(prefix string) (effects.Store, error) {
		return postgres.Open(context.Background(), clk, server.DSN(), prefix, effects.Plain, time.Minute)
	}
	const killed, other = "h_0000abcd_1", "h_0000abcd_2"
	for _, prefix := range []string{killed, other} {
		if _, err := open(prefix); err != nil { // and nobody closes it
			t.Fatal(err)
		}
	}
	t.Setenv(postgresVariable, "")
	if _, said, code := harness("undo", "tables", killed); code != exitFailed || !strings.Contains(said, postgresVariable) {
		t.Errorf("without the address: exit %d, %s", code, said)
	}
	t.Setenv(postgresVariable, server.DSN())
	for _, foreign := range []string{"payments", "h_0000abcd_1; drop table payments", ""} {
		if _, said, code := harness("undo", "tables", foreign); code != exitUsage {
			t.Errorf("%q: exit %d, %s", foreign, code, said)
		}
	}
	for range 2 {
		if _, said, code := harness("undo", "tables", killed); code != exitPass {
			t.Errorf("exit %d: %s", code, said)
		}
	}
	if _, err := open(killed); err != nil {
		t.Errorf("its tables are left: %v", err)
	}
	if _, err := open(other); err == nil {
		t.Error("another run's tables are gone")
	}
}
