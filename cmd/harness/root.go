// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-720a3c77/harness/internal/suggest"
)

const about = `Runs workloads with faults on message brokers and says, with evidence, which delivery
guarantees held: loss, duplicates, order, lag and latency in one verdict.

exit codes: 0 pass or as expected, 1 violated, 2 inconclusive, 3 the harness or a broker
failed, 64 usage, 130 interrupted (the report is written all the same)`

func root() *cobra.Command {
	cmd := &cobra.Command{
		Use: "harness", Short: "delivery guarantees under faults, with evidence", Long: about,
		SilenceErrors: true, SilenceUsage: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return usage(errors.New(suggest.Unknown("verb", args[0], verbs(cmd))))
		},
		Args: cobra.ArbitraryArgs,
	}
	cmd.AddCommand(runVerb(), verifyVerb(), exploreVerb(), checkVerb(), reportVerb(), explainVerb(), listVerb(), validateVerb(), selftestVerb(), upVerb(), downVerb(), statusVerb(), historyVerb(), versionVerb(), workerVerb(), watchdogVerb(), undoVerb())
	cmd.CompletionOptions.HiddenDefaultCmd = true
	cmd.SetFlagErrorFunc(flagError)
	return cmd
}

func verbs(cmd *cobra.Command) []string {
	var all []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			all = append(all, c.Name())
		}
	}
	return all
}

// flagError names the nearest flag.
func flagError(cmd *cobra.Command, err error) error {
	word, found := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !found {
		return usage(err)
	}
	return usage(errors.New(suggest.Unknown("flag", word, flags(cmd))))
}

// exactly refuses a wrong number of arguments as usage.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return usage(errors.New("want " + what))
		}
		return nil
	}
}
