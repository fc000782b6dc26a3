// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/contract/profiles"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/internal/catalog"
	"github.com/seed-720a3c77/harness/internal/suite"
	"github.com/seed-720a3c77/harness/runner/blackbox"
)

// verification is one run of a foreign consumer.
type verification struct {
	options blackbox.Options
	engine  catalog.Engine
	out     string
	say     func(string)
	stop    *atomic.Bool
	keeping *keeping
}

// run returns the results as far as there is a history to judge.
func (v *verification) run(ctx context.Context, brokers *catalog.Brokers) (*checkers.Results, error) {
	likely, err := profiles.Named(v.engine.Profile)
	if err != nil {
		return nil, err
	}
	if _, err := blackbox.NewPlan(v.options, likely, 0); err != nil { // before anything is started
		return nil, fmt.Errorf("%w: %w", errOptions, err)
	}
	connection, err := brokers.Connect(ctx, v.engine)
	if err != nil {
		return nil, err
	}
	results, err := v.on(ctx, connection)
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	return results, errors.Join(err, connection.Engine.Close(closing))
}

func (v *verification) on(ctx context.Context, c catalog.Connection) (*checkers.Results, error) {
	plan, err := blackbox.NewPlan(v.options, c.Engine.Profile(), rand.Uint32())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errOptions, err)
	}
	work, err := v.directories()
	if err != nil {
		return nil, err
	}
	to := &reach{engine: v.engine, at: c.At, plan: plan}
	if err := to.openLinks(ctx, c); err != nil {
		return nil, err
	}
	defer to.close(context.WithoutCancel(ctx))
	removed, err := v.keeping.queues(v.engine.Name, c.At.Address, plan.Queues())
	if err != nil {
		return nil, err
	}
	defer removed()
	from, err := v.effects(ctx, work, to)
	if err != nil {
		return nil, err
	}
	name := "verify." + v.engine.Name
	recording, err := history.Create(filepath.Join(v.out, name), v.header(plan, c, name))
	if err != nil {
		return nil, errors.Join(err, from.Close())
	}
	ran := v.record(blackbox.Config{
		Plan: plan, Engine: c.Engine, Recording: recording, Access: to.access, Links: to.link, Source: from, Dir: work,
		Guard: v.keeping, Say: v.say, Stop: v.stop,
	})
	return v.judge(name, ran)
}

// directories makes that of the results and, in it, the program's own.
func (v *verification) directories() (work string, err error) {
	if err := os.MkdirAll(filepath.Dir(v.out), 0o755); err != nil {
		return "", fmt.Errorf("output: %w", err)
	}
	if err := os.Mkdir(v.out, 0o755); err != nil {
		return "", fmt.Errorf("output: %w", err)
	}
	work, err = filepath.Abs(filepath.Join(v.out, "program"))
	if err == nil {
		err = os.Mkdir(work, 0o755)
	}
	return work, err
}

// record runs to the end of the history; every source is closed.
func (v *verification) record(c blackbox.Config) error {
	if v.options.KeepBodies {
		bodies, err := os.OpenFile(filepath.Join(v.out, "bodies.jsonl"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return errors.Join(fmt.Errorf("keep-bodies: %w", err), c.Source.Close(), c.Recording.Close())
		}
		defer bodies.Close()
		c.Bodies = io.Writer(bodies)
	}
	c.Clock = clock.NewWall(v.options.Seed)
	defer c.Clock.Close()
	var ran error
	crashed := c.Clock.Run("verify", func(ctx context.Context) { ran = blackbox.Run(ctx, c) })
	settings := c.Recording.Amend(func(h *history.Header) { h.Settings = c.Engine.Settings() })
	return errors.Join(crashed, ran, c.Source.Close(), settings, c.Recording.Close())
}

func (v *verification) header(plan *blackbox.Plan, c catalog.Connection, name string) history.Header {
	h := plan.Header()
	h.Run, h.Tool, h.Engine, h.Provider = name, version(), v.engine.Name, c.At.Provider
	if c.At.Version != "" {
		h.Versions = map[string]string{c.At.Engine: c.At.Version}
	}
	h.Host = fmt.Sprintf("%s/%s, %d cores, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	h.Started, h.Command = time.Now().UTC(), command(os.Args[1:])
	return h
}

// judge checks the history and writes the results.
func (v *verification) judge(name string, ran error) (*checkers.Results, error) {
	result, err := suite.Judge(filepath.Join(v.out, name))
	if err != nil {
		return nil, errors.Join(ran, err)
	}
	result.Dir = name
	results := &checkers.Results{Schema: checkers.Schema, Tool: version(), Command: command(os.Args[1:]), Started: time.Now().UTC()}
	results.Runs = append(results.Runs, *result)
	return results, errors.Join(ran, suite.Write(filepath.Join(v.out, suite.ResultsFile), results))
}
