// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed-720a3c77/harness/internal/catalog"
	"github.com/seed-720a3c77/harness/reports"
	"github.com/seed-720a3c77/harness/workloads"
)

func listVerb() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "list workloads, engines, faults and report formats",
		Args: exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			t := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 8, 2, ' ', 0)
			if err := listWorkloads(t, "WORKLOADS", workloads.Names()); err != nil {
				return err
			}
			if err := listWorkloads(t, "WORKLOADS THAT RUN WHEN NAMED", workloads.Others()); err != nil {
				return err
			}
			fmt.Fprintln(t, "ENGINES")
			for _, e := range catalog.Engines() {
				fmt.Fprintf(t, "  %s\t\t%s\n", e.Name, e.Doc)
			}
			fmt.Fprintln(t, "FAULTS")
			for _, f := range catalog.Faults() {
				fmt.Fprintf(t, "  %s\t\t%s\n", f.Name, f.Doc)
			}
			fmt.Fprintln(t, "FORMATS")
			for _, f := range reports.Formats() {
				fmt.Fprintf(t, "  %s\t\t%s\n", f.Name, f.Doc)
			}
			return t.Flush()
		},
	}
}

func listWorkloads(to io.Writer, title string, names []string) error {
	fmt.Fprintln(to, title)
	for _, name := range names {
		doc, err := workloads.Find(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(to, "  %s\t%s\t%s\n", name, strings.Join(doc.Variants(), " "), doc.About)
	}
	return nil
}
