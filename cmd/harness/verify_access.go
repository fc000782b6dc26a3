// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/seed-720a3c77/harness/effects/postgres"
	"github.com/seed-720a3c77/harness/effects/sqlite"
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
	db, err := sqlite.Reader(file)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", blackbox.ErrEffects, err)
	}
	return blackbox.NewQuery(ctx, db, v.options.Query), nil
}

// postgres reads from the database of the environment, or else from one that lives as long
// as the run.
func (v *verification) postgres(ctx context.Context, access *blackbox.Access) (blackbox.Source, error) {
	access.Postgres = os.Getenv(postgresVariable)
	var server *postgres.Server
	if access.Postgres == "" {
		var err error
		if server, err = postgres.Start(ctx); err != nil {
			return nil, fmt.Errorf("%w: %w", blackbox.ErrEffects, err)
		}
		access.Postgres = server.DSN()
	}
	db, err := postgres.Reader(access.Postgres)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", blackbox.ErrEffects, err)
	}
	q := blackbox.NewQuery(ctx, db, v.options.Query)
	if server == nil {
		return q, nil
	}
	return v.guarded(q, server)
}

// guarded is a query whose server ends with it, or with this process.
func (v *verification) guarded(q *blackbox.Query, server *postgres.Server) (blackbox.Source, error) {
	release, err := v.guard.Guard(server.PID())
	if err != nil {
		return nil, errors.Join(err, q.Close(), server.Close())
	}
	return &serverQuery{q, server, release}, nil
}

type serverQuery struct {
	*blackbox.Query
	server  *postgres.Server
	release func()
}

// Close ends the server too.
func (s *serverQuery) Close() error {
	defer s.release()
	return errors.Join(s.Query.Close(), s.server.Close())
}
