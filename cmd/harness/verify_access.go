// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	_ "github.com/jackc/pgx/v5/stdlib" // drivers of database/sql, for --query
	_ "modernc.org/sqlite"

	"github.com/seed-720a3c77/harness/internal/catalog"
	"github.com/seed-720a3c77/harness/provision"
	"github.com/seed-720a3c77/harness/runner/blackbox"
)

// accessTo is how a program reaches its queue.
func accessTo(e catalog.Engine, at provision.Endpoint, plan *blackbox.Plan) blackbox.Access {
	a := blackbox.Access{
		Product: at.Engine, Address: at.Address, Queue: plan.Destination,
		User: at.Credentials.User, Password: at.Credentials.Password.Reveal(), Mechanism: at.Credentials.Mechanism,
		TLS: at.Credentials.TLS.Enabled, Region: at.Settings[provision.SettingRegion],
	}
	if at.Engine != provision.SQS {
		return a
	}
	if e.Name == "sqs-fifo" {
		a.Queue += ".fifo"
	}
	if a.Region == "" {
		a.Region = "us-east-1"
	}
	if strings.HasPrefix(at.Version, "localstack") {
		a.QueueURL = strings.TrimSuffix(at.Address, "/") + "/" + localAccount + "/" + a.Queue
	}
	return a
}

// localAccount is the account of every queue of LocalStack.
const localAccount = "000000000000"

// postgresVariable names the variable with the DSN of a database.
const postgresVariable = "HARNESS_POSTGRES"

// effects opens the place where the program's effects are to be found.
func (v *verification) effects(ctx context.Context, work string, access *blackbox.Access) (blackbox.Source, error) {
	kind, rest := v.options.EffectsAt()
	rest = strings.ReplaceAll(rest, "{dir}", work)
	switch kind {
	case blackbox.InSQLite:
		return v.sqlite(ctx, rest)
	case blackbox.InPostgres:
		return v.postgres(ctx, access)
	case blackbox.AtHook:
		return blackbox.NewHook()
	case blackbox.AtPoll:
		return &blackbox.Poll{URL: rest}, nil
	case blackbox.InFile:
		return blackbox.NewFile(rest), nil
	}
	return new(blackbox.Stdout), nil
}

// sqlite only reads, and waits for the program's writes.
func (v *verification) sqlite(ctx context.Context, file string) (blackbox.Source, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: url.Values{"mode": {"ro"}, "_pragma": {"busy_timeout(10000)"}}.Encode()}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return nil, fmt.Errorf("%w: sqlite: %w", blackbox.ErrEffects, err)
	}
	return blackbox.NewQuery(ctx, db, v.options.Query), nil
}

// postgres reads from the database of the environment. No error shows the DSN.
func (v *verification) postgres(ctx context.Context, access *blackbox.Access) (blackbox.Source, error) {
	dsn := os.Getenv(postgresVariable)
	if dsn == "" {
		return nil, usage(errors.New("effects: postgres: set " + postgresVariable + " to the DSN of a database"))
	}
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		return nil, fmt.Errorf("%w: postgres: the DSN cannot be read", blackbox.ErrEffects)
	}
	access.Postgres = dsn
	return blackbox.NewQuery(ctx, db, v.options.Query), nil
}
