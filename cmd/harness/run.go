// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/internal/catalog"
	"github.com/seed-720a3c77/harness/internal/suite"
	"github.com/seed-720a3c77/harness/provision"
	"github.com/seed-720a3c77/harness/reports"
	"github.com/seed-720a3c77/harness/workloads"
)

type runFlags struct {
	providing
	on, out, variant, seed, repeat string
	quiet, json, stopOnViolation   bool
	predict                        predictFlags
}

func runVerb() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [WORKLOAD...]",
		Short: "run workloads (names or .yaml files) on engines and judge them",
		Long:  "Without arguments: the core workloads on the in-memory profiles of Kafka, SQS and RabbitMQ.",
		RunE:  func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.register(cmd)
	cmd.Flags().StringVar(&f.on, "on", catalog.DefaultOn, "engines, separated by commas: inmem:PROFILE, kafka, sqs, sqs-fifo, rabbitmq, rabbitmq-classic")
	cmd.Flags().StringVar(&f.out, "out", "", "directory of the results; empty is runs/TIME")
	cmd.Flags().StringVar(&f.variant, "variant", "", "only variants with these parts, joined by +")
	cmd.Flags().StringVar(&f.seed, "seed", "", "seed of virtual runs; empty is the workload's own, or 1")
	f.predict.register(cmd)
	cmd.Flags().StringVar(&f.repeat, "repeat", "", "how often, or forever; each repeat has the next seed")
	cmd.Flags().BoolVar(&f.stopOnViolation, "stop-on-violation", false, "end a repeat at the first unforeseen violation, and keep its history")
	cmd.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "print nothing but errors")
	cmd.Flags().BoolVar(&f.json, "json", false, "print the results as JSON")
	return cmd
}

func (f *runFlags) run(cmd *cobra.Command, args []string) error {
	request, err := f.request(args)
	if err != nil {
		return usage(err)
	}
	screen := newScreen(cmd.ErrOrStderr(), f.quiet || f.json)
	f.say = screen.Say
	keeping, err := keep(screen.Say)
	if err != nil {
		return err
	}
	options := f.options()
	options.Guard = keeping.broker
	brokers, err := catalog.NewBrokers(options)
	if err != nil {
		return usage(err)
	}
	if err := f.idle(cmd, request.Engines); err != nil {
		return usage(err)
	}
	request.Connect, request.Watch = brokers.Connect, screen
	request.Worker, request.Guard, request.Undo = keeping.worker(), keeping, keeping.queues
	stop, signals := interrupts(screen)
	defer signals()
	request.Stop = stop
	results, failed := f.suite(cmd, request)
	screen.Close()
	failed = errors.Join(failed, brokers.Close(context.WithoutCancel(cmd.Context())), keeping.Close())
	if len(results.Runs)+len(results.NotRun) == 0 {
		return f.nothing(failed)
	}
	failed = errors.Join(failed, f.show(cmd.OutOrStdout(), request.Out, &results))
	return f.exit(&results, failed, stop.Load())
}

// suite runs it once, or as often as asked.
func (f *runFlags) suite(cmd *cobra.Command, request suite.Request) (checkers.Results, error) {
	if f.repeat == "" {
		return suite.Run(cmd.Context(), request)
	}
	times, _ := f.times()
	s := suite.Soak{Request: request, Times: times, StopOnViolation: f.stopOnViolation}
	results, err := s.Run(cmd.Context())
	if f.quiet || f.json {
		return results, err
	}
	return results, errors.Join(err, s.Print(cmd.OutOrStdout()))
}

func (f *runFlags) times() (int, error) {
	if f.repeat == "forever" {
		return suite.Forever, nil
	}
	n, err := strconv.Atoi(f.repeat)
	if f.repeat != "" && (err != nil || n < 1) {
		return 0, fmt.Errorf("repeat %q is neither a number from 1 nor forever", f.repeat)
	}
	return n, nil
}

func (f *runFlags) nothing(failed error) error {
	if failed != nil {
		return failed
	}
	return usage(fmt.Errorf("no variant has the parts %q", f.variant))
}

// exit is the code of the whole run, worst first.
func (f *runFlags) exit(results *checkers.Results, failed error, interrupted bool) error {
	switch {
	case interrupted:
		return &exit{code: exitInterrupted, err: errors.New("interrupted; what ran was drained, judged and reported")}
	case errors.Is(failed, provision.ErrAddress), errors.As(failed, new(*workloads.LineError)):
		return usage(failed)
	case failed != nil:
		return failed
	}
	return f.predict.judged(results)
}

func (f *runFlags) request(args []string) (suite.Request, error) {
	r := suite.Request{Out: f.out, Tool: version(), Command: command(os.Args[1:])}
	if len(args) == 0 {
		args = workloads.Names()
	}
	for _, name := range args {
		doc, err := workloads.Find(name)
		if err != nil {
			return r, err
		}
		r.Workloads = append(r.Workloads, doc)
	}
	if f.variant != "" {
		r.Variants = strings.Split(f.variant, "+")
	}
	if r.Out == "" {
		r.Out = filepath.Join("runs", fmt.Sprintf("%s-%04x", time.Now().Format("20060102-150405"), rand.IntN(1<<16)))
	}
	var err error
	if r.Predict, err = f.predict.predicting(); err != nil {
		return r, err
	}
	if r.Seed, err = seed(f.seed); err != nil {
		return r, err
	}
	if _, err := f.times(); err != nil {
		return r, err
	}
	if f.repeat != "" && r.Seed == 0 {
		r.Seed = 1
	}
	r.Engines, err = catalog.FindAll(f.on)
	return r, err
}

func seed(text string) (uint64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("seed %q is not a whole number", text)
	}
	return n, nil
}

// command repeats the words of the run, which end in its files. Addresses with credentials
// are refused before; of --env only the names are told.
func command(args []string) string {
	told := slices.Clone(args)
	for i, word := range args {
		if word == "--" {
			break // what follows is of the program that is verified
		}
		value, joined := strings.CutPrefix(word, "--env=")
		if !joined && (i == 0 || args[i-1] != "--env") {
			continue
		}
		if name, _, assigned := strings.Cut(value, "="); assigned {
			told[i] = strings.TrimSuffix(word, value) + name + "=..."
		}
	}
	return "harness " + strings.Join(told, " ")
}

// show writes the files of the report and prints the table and where they are.
func (f *runFlags) show(w io.Writer, dir string, results *checkers.Results) error {
	written, err := reports.WriteAll(dir, results)
	if f.json {
		return errors.Join(err, reports.JSON(w, results))
	}
	if f.quiet {
		return err
	}
	err = errors.Join(err, reports.Text(w, results))
	for _, path := range written {
		fmt.Fprintln(w, path)
	}
	return err
}

// interrupts turns the first Ctrl-C into a polite stop; the second ends the process, even
// where whoever started it has such signals ignored, as a script does for what it runs in the
// background. The watchdog cleans up then.
func interrupts(screen *screen) (*atomic.Bool, func()) {
	stop := new(atomic.Bool)
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-c:
				if stop.Swap(true) {
					os.Exit(exitInterrupted)
				}
				screen.Say("stopping: draining, checking and reporting; once more to end at once")
			case <-done:
				return
			}
		}
	}()
	return stop, func() { signal.Stop(c); close(done) }
}
