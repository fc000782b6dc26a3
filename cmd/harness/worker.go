// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/seed-720a3c77/harness/internal/catalog"
	"github.com/seed-720a3c77/harness/runner/process"
)

// workerVerb is a worker of `run-in: process`. The harness starts it and tells it the
// rest over its standard input.
func workerVerb() *cobra.Command {
	return &cobra.Command{
		Use: "worker", Hidden: true, Args: exactly(0, "no arguments: a run starts its workers itself"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return process.Child{
				In: os.Stdin, Out: os.NewFile(process.Up, "up"), Open: catalog.OpenPassed, Faults: catalog.Faults(),
				Orphaned: func() { os.Exit(exitFailed) },
			}.Run(cmd.Context())
		},
	}
}
