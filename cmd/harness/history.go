// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/seed-720a3c77/harness/history"
)

func historyVerb() *cobra.Command {
	cmd := &cobra.Command{Use: "history", Short: "export a history to JSON Lines, or import one"}
	cmd.AddCommand(&cobra.Command{
		Use: "export RUN", Short: "write the events of a run as JSON Lines",
		Args: exactly(1, "one run's directory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			run, err := history.Open(args[0])
			if err != nil {
				return usage(err)
			}
			return history.Export(run, cmd.OutOrStdout())
		},
	}, &cobra.Command{
		Use: "import FILE RUN", Short: "make a run's directory from JSON Lines",
		Args: exactly(2, "a file of JSON Lines and the directory to make"),
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := os.Open(args[0])
			if err != nil {
				return usage(fmt.Errorf("import: %w", err))
			}
			defer f.Close()
			if err := history.Import(f, args[1]); err != nil {
				return usage(err)
			}
			return nil
		},
	})
	return cmd
}
