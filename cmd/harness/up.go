// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/seed-720a3c77/harness/internal/catalog"
	"github.com/seed-720a3c77/harness/provision"
)

func upVerb() *cobra.Command {
	var p providing
	var env bool
	cmd := &cobra.Command{
		Use: "up [ENGINE...]", Short: "start real brokers (kafka, sqs, rabbitmq) and keep them running",
		RunE: func(cmd *cobra.Command, engines []string) error {
			p.say = func(line string) { fmt.Fprintln(cmd.ErrOrStderr(), line) }
			ctx, release := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer release()
			context.AfterFunc(ctx, release) // the second ends the process
			return eachBroker(cmd, &p, engines, func(b *catalog.Brokers, engine string) error {
				at, err := b.Up(ctx, engine)
				if err == nil {
					printEndpoint(cmd.OutOrStdout(), at, env)
				}
				if ctx.Err() != nil { // what was not up yet is stopped again
					return &exit{code: exitInterrupted, err: fmt.Errorf("interrupted at %s", engine)}
				}
				return err
			})
		},
	}
	p.register(cmd)
	cmd.Flags().BoolVar(&env, "env", false, "print shell lines that set HARNESS_KAFKA and so on")
	return cmd
}

func downVerb() *cobra.Command {
	var p providing
	cmd := &cobra.Command{
		Use: "down [ENGINE...]", Short: "stop the brokers that up started and remove their data",
		RunE: func(cmd *cobra.Command, engines []string) error {
			return eachBroker(cmd, &p, engines, func(b *catalog.Brokers, engine string) error { return b.Down(cmd.Context(), engine) })
		},
	}
	p.registerProvider(cmd)
	return cmd
}

func statusVerb() *cobra.Command {
	var p providing
	cmd := &cobra.Command{
		Use: "status", Short: "list the brokers that can be used now",
		Args: exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, err := catalog.NewBrokers(p.options())
			if err != nil {
				return usage(err)
			}
			all, err := b.Status(cmd.Context())
			for _, at := range all {
				printEndpoint(cmd.OutOrStdout(), at, false)
			}
			if err == nil && len(all) == 0 {
				fmt.Fprintln(cmd.OutOrStdout(), "no broker is up; `harness up` starts them")
			}
			return err
		},
	}
	p.register(cmd)
	return cmd
}

func eachBroker(cmd *cobra.Command, p *providing, engines []string, do func(*catalog.Brokers, string) error) error {
	if len(engines) == 0 {
		engines = provision.Engines()
	}
	b, err := catalog.NewBrokers(p.options())
	if err != nil {
		return usage(err)
	}
	for _, engine := range engines {
		if err := catalog.KnownBroker(engine); err != nil {
			return usage(err)
		}
	}
	if err := p.idle(cmd, engines); err != nil {
		return usage(err)
	}
	for _, engine := range engines {
		if err := do(b, engine); err != nil {
			return err
		}
	}
	return nil
}

func printEndpoint(w io.Writer, at provision.Endpoint, env bool) {
	if env {
		for _, line := range catalog.Environment(at) {
			fmt.Fprintln(w, "export "+line)
		}
		return
	}
	fmt.Fprintf(w, "%s %s by %s at %s\n", at.Engine, at.Version, at.Provider, at.Address)
}
