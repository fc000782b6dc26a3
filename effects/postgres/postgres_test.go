// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/effects"
	"github.com/seed-720a3c77/harness/effects/storetest"
	"github.com/seed-720a3c77/harness/internal/testenv"
	"github.com/seed-720a3c77/harness/msg"
)

// TestStore: every way to have a database gives the same store.
func TestStore(t *testing.T) {
	if dsn := os.Getenv("HARNESS_POSTGRES"); dsn != "" {
		t.Run("given", func(t *testing.T) { suite(t, dsn) })
	}
	for name, from := range map[string]origin{"installed": installed, "embedded": unpacked} {
		t.Run(name, func(t *testing.T) {
			if name == "embedded" {
				testenv.Short(t, "the programs may have to be fetched")
			}
			suite(t, serve(t, from).DSN())
		})
	}
}

// serve starts a server whose guards must be asked for first and released last.
func serve(t *testing.T, from origin) *Server {
	t.Helper()
	guards := new(counting)
	s, err := start(t.Context(), guards, from)
	if errors.Is(err, ErrUnavailable) {
		testenv.Lacks(t, "postgres", err.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
	if guards.process != 1 || guards.folder != 1 {
		t.Errorf("guarded: %+v, want the process and its folder", *guards)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(s.dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the folder of the server is left: %v", err)
		}
		if *guards != (counting{}) {
			t.Errorf("still guarded: %+v", *guards)
		}
	})
	return s
}

// counting counts what is guarded.
type counting struct{ process, folder int }

func (c *counting) Guard(int) (func(), error) {
	c.process++
	return func() { c.process-- }, nil
}

func (c *counting) Folder(string) (func(), error) {
	c.folder++
	return func() { c.folder-- }, nil
}

func suite(t *testing.T, dsn string) {
	n, run := 0, time.Now().UnixNano()
	storetest.Run(t, func(ctx context.Context, clk clock.Clock, mode effects.Mode) (effects.Store, error) {
		n++
		return Open(ctx, clk, dsn, fmt.Sprintf("test%d_%d", run, n), mode, time.Minute)
	})
}

func TestADSNIsInNoError(t *testing.T) {
	_, err := Open(t.Context(), nil, "postgres://user:hunter2@127.0.0.1:1/none", "run", effects.Plain, 0)
	if err == nil {
		t.Fatal("nobody listens, and no error")
	}
	for _, secret := range []string{"hunter2", "user"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("error %q shows %q", err, secret)
		}
	}
}

// TestAServerThatIsDownIsAnError: what cannot be read is never "no effect".
func TestAServerThatIsDownIsAnError(t *testing.T) {
	s := serve(t, installed)
	store, err := Open(t.Context(), clock.NewWall(1), s.DSN(), "down", effects.Plain, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	key := effects.Key{Subscription: "billing", ID: msg.ID{Seq: 1}}
	if _, err := store.Apply(t.Context(), key, "w0"); err != nil {
		t.Fatal(err)
	}
	if err := s.process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-s.ended
	if n, err := store.Count(t.Context(), key); err == nil {
		t.Errorf("%d effects of a server that was killed, and no error", n)
	}
	if r, err := store.Apply(t.Context(), key, "w0"); err == nil {
		t.Errorf("an effect %+v in a server that was killed, and no error", r)
	}
}

// TestArchiveWithAnotherChecksum: what was tampered with, or cut short, is not unpacked.
func TestArchiveWithAnotherChecksum(t *testing.T) {
	a, known := archiveOf("linux", "amd64")
	if !known {
		t.Fatal("there is no archive for linux/amd64")
	}
	jar := filepath.Join(t.TempDir(), a.file())
	if err := os.WriteFile(jar, []byte("PK"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := a.check(jar); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("error %v", err)
	}
	if _, known := archiveOf("plan9", "386"); known {
		t.Error("there is one for plan9")
	}
}

// TestTablesDoNotStay: neither those of a store that was closed, nor of one that was not.
func TestTablesDoNotStay(t *testing.T) {
	s := serve(t, installed)
	clk := clock.NewWall(1)
	t.Cleanup(clk.Close)
	closed, err := Open(t.Context(), clk, s.DSN(), "closed", effects.Plain, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	left, err := Open(t.Context(), clk, s.DSN(), "left", effects.Claim, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if got := tables(t, s.DSN()); got != 4 {
		t.Fatalf("%d tables of two stores, want 4", got)
	}
	if err := closed.Close(); err != nil {
		t.Error(err)
	}
	if got := tables(t, s.DSN()); got != 2 {
		t.Errorf("%d tables when one is closed, want 2", got)
	}
	for range 2 { // once more is no error
		if err := Remove(t.Context(), s.DSN(), "left"); err != nil {
			t.Error(err)
		}
	}
	if got := tables(t, s.DSN()); got != 0 {
		t.Errorf("%d tables are left", got)
	}
	if err := left.Close(); err != nil {
		t.Errorf("a store whose tables are gone: %v", err)
	}
}

// tables counts those of the database.
func tables(t *testing.T, dsn string) (n int) {
	t.Helper()
	db, err := Reader(dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
