// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/history/foreign"
)

func historyVerb() *cobra.Command {
	cmd := &cobra.Command{Use: "history", Short: "export a history to JSON Lines, import one, or archive it"}
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
	}, importVerb(), archiveVerb())
	return cmd
}

func archiveVerb() *cobra.Command {
	return &cobra.Command{
		Use: "archive RUN DIR", Short: "write a whole run once more, compressed",
		Long: "Writes a run to a directory that must not exist, with its blocks compressed. An archive is\nread, checked and exported like any other run.",
		Args: exactly(2, "a run's directory and the one to make"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := history.Archive(args[0], args[1]); err != nil {
				return usage(err)
			}
			return nil
		},
	}
}

func importVerb() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use: "import FILE... RUN", Short: "make a run's directory of JSON Lines, or of what another tool recorded",
		Long: "Makes a run's directory, which must not exist, to be judged with harness check.\n\nformats:\n" + formats() + `
kafka-verifiable takes any number of logs. The tools know of no fault, so whoever broke the
broker may say so in a file of its own, one line at the beginning and one at the end:
  {"timestamp":1731159021783,"name":"fault_active","fault":"broker-kill"}
  {"timestamp":1731159024800,"name":"fault_healed","fault":"broker-kill"}
The events of each task of a jsonl file must be in the order of time.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usage(errors.New("want one file or more, and the directory to make"))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := foreign.Named(format)
			if err != nil {
				return usage(err)
			}
			last := len(args) - 1
			if err := f.Import(args[:last], args[last]); err != nil {
				return usage(err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&format, "format", "jsonl", "form of the files")
	return cmd
}

// formats lists what can be imported, a line each.
func formats() string {
	var b strings.Builder
	for _, f := range foreign.Formats() {
		fmt.Fprintf(&b, "  %-18s%s\n", f.Name, f.About)
	}
	return strings.TrimRight(b.String(), "\n")
}
