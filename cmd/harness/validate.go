// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-720a3c77/harness/contract/profiles"
	"github.com/seed-720a3c77/harness/internal/catalog"
	"github.com/seed-720a3c77/harness/runner"
	"github.com/seed-720a3c77/harness/workloads"
)

func validateVerb() *cobra.Command {
	return &cobra.Command{
		Use: "validate WORKLOAD", Short: "check a workload (name or .yaml file) and tell where it can run",
		Args: exactly(1, "one workload: a name or a .yaml file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			doc, err := workloads.Find(args[0])
			if err != nil {
				return usage(err)
			}
			for _, variant := range doc.Variants() {
				spec, err := doc.Spec(variant)
				if err != nil {
					return usage(err)
				}
				for _, p := range profiles.All() {
					_, err := runner.NewPlan(spec, p, runner.Where{Virtual: true, Faults: catalog.Faults()})
					var not *runner.NotApplicable
					switch {
					case errors.As(err, &not):
						fmt.Fprintf(cmd.OutOrStdout(), "%s %s on %s: %v\n", doc.Name, variant, p.Name, not)
					case err != nil:
						return usage(err)
					default:
						fmt.Fprintf(cmd.OutOrStdout(), "%s %s on %s: ok\n", doc.Name, variant, p.Name)
					}
				}
			}
			return nil
		},
	}
}
