// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/internal/catalog"
	"github.com/seed-720a3c77/harness/provision"
	"github.com/seed-720a3c77/harness/runner/blackbox"
	"github.com/seed-720a3c77/harness/runner/spawn"
)

const verifyAbout = `Starts the command as worker processes on a real broker, publishes, kills and freezes the
workers, stores messages twice, waits until the broker has nothing left, and counts the
effects. The command is told where its queue is by variables (HARNESS_ADDRESS,
HARNESS_QUEUE or HARNESS_TOPIC, HARNESS_GROUP, and those that the usual clients read) or by
placeholders in its arguments: {address} {queue} {topic} {queue-url} {group} {dir} {worker}.

  harness verify --on sqs --effects sqlite:{dir}/payments.db \
    --query 'select event_id, count(*) from payments group by event_id' -- ./my-consumer

harness verify --init sqs writes a file with every option, for --file.`

type verifyFlags struct {
	providing
	out, file, init string
	quiet, json     bool
	options         blackbox.Options
}

func verifyVerb() *cobra.Command {
	f := verifyFlags{options: blackbox.Defaults()}
	cmd := &cobra.Command{
		Use:   "verify [flags] -- COMMAND [ARGUMENT...]",
		Short: "verify a consumer of yours, in any language, on a real broker",
		Long:  verifyAbout,
		RunE:  func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.register(cmd)
	f.bind(cmd.Flags())
	return cmd
}

func (f *verifyFlags) run(cmd *cobra.Command, args []string) error {
	if f.init != "" {
		return f.starter(cmd, args)
	}
	options, err := f.decide(cmd, args)
	if err != nil {
		return usage(err)
	}
	found, err := catalog.Find(options.On)
	switch {
	case err != nil:
		return usage(err)
	case len(found) != 1 || found[0].Open == nil:
		return usage(fmt.Errorf("on: %q lives in the harness; a program of its own needs kafka, sqs or rabbitmq", options.On))
	case !spawn.Supported:
		return usage(errors.New("verify: programs can be killed and frozen on Linux and macOS only"))
	}
	if err := f.idle(cmd, found[0].Broker, &options); err != nil {
		return usage(err)
	}
	if _, err := exec.LookPath(options.Command[0]); err != nil {
		return usage(fmt.Errorf("the command cannot be run: %w", err))
	}
	return f.verify(cmd, found[0], options)
}

func (f *verifyFlags) verify(cmd *cobra.Command, engine catalog.Engine, options blackbox.Options) error {
	screen := newScreen(cmd.ErrOrStderr(), f.quiet || f.json)
	defer screen.Close()
	f.say = screen.Say
	if f.quiet || f.json {
		f.say = func(string) {}
	}
	keeping, err := keep(f.say)
	if err != nil {
		return err
	}
	providing := f.providing.options()
	providing.Guard = keeping.broker
	brokers, err := catalog.NewBrokers(providing)
	if err != nil {
		return usage(err)
	}
	stop, signals := interrupts(screen)
	defer signals()
	v := verification{options: options, engine: engine, out: f.directory(), say: f.say, stop: stop, keeping: keeping}
	results, failed := v.run(cmd.Context(), brokers)
	failed = errors.Join(failed, brokers.Close(context.WithoutCancel(cmd.Context())), keeping.Close())
	show := runFlags{quiet: f.quiet, json: f.json}
	if results != nil {
		failed = errors.Join(failed, show.show(cmd.OutOrStdout(), v.out, results))
		failed = errors.Join(failed, f.explain(cmd.OutOrStdout(), v.out, results, options.Duplicate))
	}
	switch {
	case errors.Is(failed, provision.ErrAddress), errors.Is(failed, blackbox.ErrCannot), errors.Is(failed, errOptions):
		return usage(failed)
	case results == nil:
		return failed
	}
	return show.exit(results, failed, stop.Load())
}

// explain names what broke the consumer, as far as it shows, and tells it of one message.
func (f *verifyFlags) explain(w io.Writer, out string, results *checkers.Results, copies int) error {
	r := &results.Runs[0]
	found := patterns(r, copies)
	if f.quiet || f.json || len(found) == 0 {
		return nil
	}
	run, err := history.Open(filepath.Join(out, r.Dir))
	if err != nil {
		return err
	}
	for _, p := range found {
		fmt.Fprintln(w, p)
		life, err := p.story(run, r)
		if err != nil {
			return err
		}
		if life == nil {
			continue
		}
		if err := tellStory(w, life); err != nil {
			return err
		}
	}
	return nil
}

// errOptions: the options do not fit the engine.
var errOptions = errors.New("verify")

// starter writes a file with every option.
func (f *verifyFlags) starter(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage(errors.New("--init writes a file; the command goes into it"))
	}
	var idle string
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if flag.Name != "init" && flag.Name != "file" {
			idle = flag.Name
		}
	})
	if idle != "" {
		return usage(fmt.Errorf("--init writes a file with every option; --%s goes into it", idle))
	}
	text, err := blackbox.Starter(f.init)
	if err != nil {
		return usage(err)
	}
	if f.file == "" {
		_, err = cmd.OutOrStdout().Write(text)
		return err
	}
	file, err := os.OpenFile(f.file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return usage(fmt.Errorf("--file: %w", err))
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err != nil {
		_ = os.Remove(f.file) // the error counts
	}
	return err
}
