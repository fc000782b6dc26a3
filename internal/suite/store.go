// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/effects"
	"github.com/seed-720a3c77/harness/effects/postgres"
	"github.com/seed-720a3c77/harness/effects/sqlite"
	"github.com/seed-720a3c77/harness/runner"
	"github.com/seed-720a3c77/harness/runner/spawn"
)

// effectsFile is the SQLite database of a run, in its directory.
const effectsFile = "effects.db"

// postgresVariable names the environment variable with the DSN of a PostgreSQL database.
const postgresVariable = "HARNESS_POSTGRES"

// Guard ends what would outlive this process: workers, the server of a store with its
// folder, and the tables of a prefix in the environment's PostgreSQL.
type Guard interface {
	spawn.Guard
	postgres.Guard
	Tables(prefix string) (done func(), err error)
}

// stores makes the store that a group of a run asks for, fresh under a prefix of its own. A
// PostgreSQL is the environment's, or one that lives as long as the store.
func stores(ctx context.Context, clk clock.Clock, dir string, nonce uint32, guard Guard) func(*runner.GroupPlan) (effects.Store, error) {
	made := 0
	return func(g *runner.GroupPlan) (effects.Store, error) {
		made++
		prefix := fmt.Sprintf("h_%08x_%d", nonce, made)
		mode, lease := g.EffectMode(), 2*g.Takes+time.Second
		switch g.Effect.Store {
		case "sqlite":
			return sqlite.Open(ctx, clk, filepath.Join(dir, effectsFile), prefix, mode, lease)
		case "postgres":
			open := func(dsn string) (effects.Store, error) {
				return postgres.Open(ctx, clk, dsn, prefix, mode, lease)
			}
			if dsn := os.Getenv(postgresVariable); dsn != "" {
				return givenPostgres(guard, prefix, func() (effects.Store, error) { return open(dsn) })
			}
			return ownPostgres(ctx, guard, open)
		}
		return effects.NewMemory(clk, mode, lease)
	}
}

// guarded is a store whose tables are guarded until it is closed.
type guarded struct {
	effects.Store
	closed func()
}

// givenPostgres makes a store in a database that outlives us.
func givenPostgres(guard Guard, prefix string, open func() (effects.Store, error)) (effects.Store, error) {
	if guard == nil {
		return open()
	}
	done, err := guard.Tables(prefix)
	if err != nil {
		return nil, err
	}
	store, err := open()
	if err != nil {
		done()
		return nil, err
	}
	return &guarded{store, done}, nil
}

// Close removes the tables, and what could not be removed stays guarded.
func (g *guarded) Close() error {
	err := g.Store.Close()
	if err == nil {
		g.closed()
	}
	return err
}

// served is a store with a server of its own, which ends with it.
type served struct {
	effects.Store
	server *postgres.Server
}

// ownPostgres runs a server for one store.
func ownPostgres(ctx context.Context, guard postgres.Guard, open func(dsn string) (effects.Store, error)) (effects.Store, error) {
	server, err := postgres.Start(ctx, guard)
	if err != nil {
		return nil, fmt.Errorf("effect store postgres: %w", err)
	}
	store, err := open(server.DSN())
	if err != nil {
		return nil, errors.Join(err, server.Close())
	}
	return &served{store, server}, nil
}

// Close ends the server too.
func (s *served) Close() error { return errors.Join(s.Store.Close(), s.server.Close()) }
