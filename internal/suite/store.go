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
)

// effectsFile is the SQLite database of a run, in its directory.
const effectsFile = "effects.db"

// postgresVariable names the environment variable with the DSN of a PostgreSQL database.
const postgresVariable = "HARNESS_POSTGRES"

// stores makes the store that a group of a run asks for, fresh under a prefix of its own.
func stores(ctx context.Context, clk clock.Clock, dir string, nonce uint32) func(*runner.GroupPlan) (effects.Store, error) {
	made := 0
	return func(g *runner.GroupPlan) (effects.Store, error) {
		made++
		prefix := fmt.Sprintf("h_%08x_%d", nonce, made)
		mode, lease := g.EffectMode(), 2*g.Takes+time.Second
		switch g.Effect.Store {
		case "sqlite":
			return sqlite.Open(ctx, clk, filepath.Join(dir, effectsFile), prefix, mode, lease)
		case "postgres":
			dsn := os.Getenv(postgresVariable)
			if dsn == "" {
				return nil, errors.New("effect store postgres: set " + postgresVariable + " to the DSN of a database")
			}
			return postgres.Open(ctx, clk, dsn, prefix, mode, lease)
		}
		return effects.NewMemory(clk, mode, lease)
	}
}
