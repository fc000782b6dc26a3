// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
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

// reach is how the workers of a program get to the broker and to its store.
type reach struct {
	engine catalog.Engine
	at     provision.Endpoint
	plan   *blackbox.Plan
	// links are nil where no fault breaks one.
	links *catalog.Links
	// postgres is the DSN of the store, "" for another.
	postgres string
}

// openLinks gives each worker a link of its own where a fault breaks some.
func (r *reach) openLinks(ctx context.Context, c catalog.Connection) error {
	if !r.plan.BreaksLinks() {
		return nil
	}
	if why := catalog.NoLinks(r.at); why != "" {
		return fmt.Errorf("%w: lose-answers: %s", blackbox.ErrCannot, why)
	}
	var workers []string
	for n := range r.plan.Workers {
		workers = append(workers, blackbox.WorkerName(n))
	}
	links, err := catalog.OpenLinks(ctx, r.engine, r.at, c.Engine, catalog.Clients{Workers: workers, Targets: workers})
	if errors.Is(err, catalog.ErrLinks) {
		return fmt.Errorf("%w: lose-answers: %w", blackbox.ErrCannot, err)
	}
	r.links = links
	return err
}

func (r *reach) close(ctx context.Context) {
	if r.links != nil {
		_ = r.links.Close(ctx) // nobody goes through it any more
	}
}

// link is the one of a worker.
func (r *reach) link(worker int) (blackbox.Link, error) {
	return r.links.Link(blackbox.WorkerName(worker))
}

// access is what a worker is told.
func (r *reach) access(worker int) blackbox.Access {
	at := r.at
	if r.links != nil {
		at = r.links.Endpoint(blackbox.WorkerName(worker), at)
	}
	a := blackbox.Access{
		Product: at.Engine, Address: at.Address, Queue: r.plan.Destination, Postgres: r.postgres,
		User: at.Credentials.User, Password: at.Credentials.Password.Reveal(), Mechanism: at.Credentials.Mechanism,
		TLS: at.Credentials.TLS.Enabled, Region: at.Settings[provision.SettingRegion],
	}
	if at.Engine == provision.SQS {
		r.queue(&a)
	}
	return a
}

// queue completes what is said of an SQS queue.
func (r *reach) queue(a *blackbox.Access) {
	if r.engine.Name == "sqs-fifo" {
		a.Queue += ".fifo"
	}
	a.Region = cmp.Or(a.Region, "us-east-1")
	if strings.HasPrefix(r.at.Version, "localstack") {
		a.QueueURL = strings.TrimSuffix(a.Address, "/") + "/" + localAccount + "/" + a.Queue
	}
}

// localAccount is the account of every queue of LocalStack.
const localAccount = "000000000000"

// postgresVariable names the variable with the DSN of a database.
const postgresVariable = "HARNESS_POSTGRES"

// effects opens the place where the program's effects are to be found.
func (v *verification) effects(ctx context.Context, work string, to *reach) (blackbox.Source, error) {
	kind, rest := v.options.EffectsAt()
	rest = strings.ReplaceAll(rest, "{dir}", work)
	switch kind {
	case blackbox.InSQLite:
		return v.sqlite(ctx, rest)
	case blackbox.InPostgres:
		return v.postgres(ctx, to)
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
func (v *verification) postgres(ctx context.Context, to *reach) (blackbox.Source, error) {
	to.postgres = os.Getenv(postgresVariable)
	var server *postgres.Server
	if to.postgres == "" {
		var err error
		if server, err = postgres.Start(ctx, v.keeping); err != nil {
			return nil, fmt.Errorf("%w: %w", blackbox.ErrEffects, err)
		}
		to.postgres = server.DSN()
	}
	db, err := postgres.Reader(to.postgres)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", blackbox.ErrEffects, err)
	}
	q := blackbox.NewQuery(ctx, db, v.options.Query)
	if server == nil {
		return q, nil
	}
	return &serverQuery{q, server}, nil
}

// serverQuery is a query whose server ends with it.
type serverQuery struct {
	*blackbox.Query
	server *postgres.Server
}

// Close ends the server too.
func (s *serverQuery) Close() error { return errors.Join(s.Query.Close(), s.server.Close()) }
