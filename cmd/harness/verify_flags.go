// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-720a3c77/harness/internal/regular"
	"github.com/seed-720a3c77/harness/runner/blackbox"
)

// bind registers a flag for every option, under the option's own word.
func (f *verifyFlags) bind(flags *pflag.FlagSet) {
	flags.StringVar(&f.out, "out", "", "directory of the results; empty is runs/TIME")
	flags.StringVar(&f.file, "file", "", "YAML file with options; flags go before it")
	flags.StringVar(&f.init, "init", "", "write a starter file for kafka, sqs or rabbitmq (to --file, or print it)")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print nothing but errors")
	flags.BoolVar(&f.json, "json", false, "print the results as JSON")
	bindOptions(flags, &f.options)
}

func bindOptions(flags *pflag.FlagSet, o *blackbox.Options) {
	flags.StringVar(&o.On, "on", o.On, "kafka, sqs, sqs-fifo, rabbitmq or rabbitmq-classic")
	flags.IntVar(&o.Workers, "workers", o.Workers, "processes of the command")
	flags.IntVar(&o.Restarts, "restarts", o.Restarts, "times that a worker which ends by itself is started again; one more fails the run")
	flags.StringArrayVar(&o.Env, "env", o.Env, "NAME=value for the command, with placeholders; may be repeated")
	flags.IntVar(&o.Messages, "messages", o.Messages, "messages to publish")
	flags.Float64Var(&o.Rate, "rate", o.Rate, "messages a second")
	flags.IntVar(&o.Keys, "keys", o.Keys, "ordering keys")
	flags.StringVar(&o.Body, "body-template", o.Body, "body of a message: {{.ID}} {{.N}} {{.Key}} {{.Amount}} {{.Run}}")
	flags.StringVar(&o.IDPath, "id-path", o.IDPath, "where the id is in the body, such as order.id; empty takes the header's")
	flags.StringVar(&o.IDHeader, "id-header", o.IDHeader, "header or attribute that carries the id")
	flags.BoolVar(&o.KeepBodies, "keep-bodies", o.KeepBodies, "keep the bodies too, in bodies.jsonl")
	flags.IntVar(&o.Partitions, "partitions", o.Partitions, "partitions of the topic")
	flags.DurationVar(&o.Lease, "lease", o.Lease, "visibility timeout of the queue; 0 is the broker's")
	flags.DurationVar(&o.Session, "session", o.Session, "session timeout of the command's own client (Kafka); 0 takes the usual 45 s")
	flags.IntVar(&o.MaxDeliveries, "max-deliveries", o.MaxDeliveries, "deliveries before a message is dead-lettered; 0 is no limit")
	flags.StringVar((*string)(&o.Claim), "claim", string(o.Claim), "at-least-once or effectively-once")
	flags.StringVar(&o.Effects, "effects", o.Effects, "where the effects are: sqlite:FILE, postgres (DSN in HARNESS_POSTGRES), hook, poll:URL, file:FILE, stdout")
	flags.StringVar(&o.Query, "query", o.Query, "SQL that gives id and count")
	flags.DurationVar(&o.Look, "look", o.Look, "how often the effects are looked at; 0 is only in the end")
	flags.IntVar(&o.Kill, "kill", o.Kill, "kill -9 of a worker that has work in hand, at random instants")
	flags.IntVar(&o.KillAll, "kill-all", o.KillAll, "kill -9 of all workers at once, as when their machine goes down")
	flags.IntVar(&o.Freeze, "freeze", o.Freeze, "freezes of workers, at random instants")
	flags.DurationVar(&o.FreezeFor, "freeze-for", o.FreezeFor, "how long a freeze lasts; 0 is past the lease or session")
	flags.IntVar(&o.Stop, "stop", o.Stop, "polite restarts of workers, at random instants")
	flags.IntVar(&o.LoseAnswers, "lose-answers", o.LoseAnswers, "times that what the broker answers a worker does not arrive")
	flags.DurationVar(&o.LoseFor, "lose-for", o.LoseFor, "how long answers are lost")
	flags.IntVar(&o.Duplicate, "duplicate", o.Duplicate, "messages that are published twice")
	flags.DurationVar(&o.RestartAfter, "restart-after", o.RestartAfter, "how long a killed worker stays away")
	flags.Uint64Var(&o.Seed, "seed", o.Seed, "seed of what is random")
	flags.DurationVar(&o.Ready, "ready", o.Ready, "how long the command may take to do something")
	flags.DurationVar(&o.Patience, "patience", o.Patience, "how long nothing may move in the drain; 0 is past the lease or session")
	flags.DurationVar(&o.Grace, "grace", o.Grace, "how long a worker may take to leave when it is asked to")
}

// maxOptions bounds a file of options, in bytes.
const maxOptions = 1 << 20

// decide puts the flags that were given over the file, and the file over the defaults.
func (f *verifyFlags) decide(cmd *cobra.Command, args []string) (blackbox.Options, error) {
	options := f.options
	if f.file != "" {
		text, err := regular.Read(f.file, maxOptions)
		if err != nil {
			return options, fmt.Errorf("--file: %w", err)
		}
		options = blackbox.Defaults()
		if err := options.Decode(text); err != nil {
			return options, fmt.Errorf("%s: %w", f.file, err)
		}
		if err := overlay(cmd.Flags(), &options); err != nil {
			return options, err
		}
	}
	if len(args) > 0 {
		if cmd.ArgsLenAtDash() != 0 {
			return options, fmt.Errorf("%q: the command comes after --", args[0])
		}
		options.Command = args
	}
	return options, options.Check()
}

// overlay sets the flags that were given once more, over options from elsewhere.
func overlay(given *pflag.FlagSet, o *blackbox.Options) (err error) {
	over := pflag.NewFlagSet("verify", pflag.ContinueOnError)
	bindOptions(over, o)
	given.Visit(func(flag *pflag.Flag) {
		to := over.Lookup(flag.Name)
		if to == nil || err != nil {
			return
		}
		if many, ok := flag.Value.(pflag.SliceValue); ok {
			err = to.Value.(pflag.SliceValue).Replace(many.GetSlice())
			return
		}
		err = to.Value.Set(flag.Value.String())
	})
	return err
}

func (f *verifyFlags) directory() string {
	if f.out != "" {
		return f.out
	}
	return filepath.Join("runs", fmt.Sprintf("%s-%04x", time.Now().Format("20060102-150405"), rand.IntN(1<<16)))
}
