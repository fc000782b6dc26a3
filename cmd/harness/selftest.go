// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed-720a3c77/harness/conformance"
	"github.com/seed-720a3c77/harness/internal/regular"
)

func selftestVerb() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "selftest",
		Short: "hold the checkers to cases of other projects, to planted bugs, and to rules taken away",
		Long: `Runs the cases of other projects that are part of this one, a planted defect of the
reference engine for every anomaly, and takes every rule away, one at a time: a case or a
defect must then be missed. With --cases it runs the cases of a file instead, one a line, in
the same form (conformance/cases.jsonl). Exits 1 when anything is wrong.`,
		Args: exactly(0, "no argument"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file != "" {
				return casesOf(cmd.OutOrStdout(), file)
			}
			return selftest(cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&file, "cases", "", "judge the cases of this file instead")
	return cmd
}

// wrong is the exit of a self-test that found something.
func wrong(any bool) error {
	if !any {
		return nil
	}
	return &exit{code: exitViolated, quiet: true}
}

func casesOf(w io.Writer, file string) error {
	f, err := regular.Open(file)
	if err != nil {
		return usage(fmt.Errorf("cases: %w", err))
	}
	defer f.Close()
	cases, err := conformance.Read(f)
	if err != nil {
		return usage(fmt.Errorf("%s: %w", file, err))
	}
	if len(cases) == 0 {
		return usage(fmt.Errorf("%s: no case in it", file))
	}
	bad, apart := printCases(w, file, cases)
	for _, c := range apart {
		if c.Bad > 0 {
			return usage(fmt.Errorf("%s: line %d: %s", file, c.Bad, c.Text))
		}
	}
	return wrong(bad)
}

func selftest(w io.Writer) error {
	theirs, err := conformance.Embedded()
	if err != nil {
		return err
	}
	ours, err := conformance.Own()
	if err != nil {
		return err
	}
	bad, _ := printCases(w, "cases of other projects", theirs)
	also, _ := printCases(w, "cases of our own", ours)
	bad = printPlanted(w) || bad || also
	missed, err := printRules(w, append(theirs, ours...))
	if err != nil {
		return err
	}
	return wrong(bad || missed)
}

// printCases tells how cases were judged, by kind, and every one that did not match.
func printCases(w io.Writer, title string, cases []conformance.Case) (bad bool, apart []conformance.CaseResult) {
	kinds, apart := conformance.RunCases(cases)
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintf(t, "%s\tMATCHED\tDEVIATES\tWRONG\n", title)
	var all conformance.KindResult
	for _, k := range kinds {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\n", k.Kind, k.Matched, k.Deviates, k.Wrong)
		all.Matched, all.Deviates, all.Wrong = all.Matched+k.Matched, all.Deviates+k.Deviates, all.Wrong+k.Wrong
	}
	fmt.Fprintf(t, "all\t%d\t%d\t%d\n", all.Matched, all.Deviates, all.Wrong)
	_ = t.Flush() // to the terminal
	for _, c := range apart {
		if c.Reason != "" {
			fmt.Fprintf(w, "%s deviates: %s (%s)\n", c.ID, c.Reason, c.Text)
			continue
		}
		fmt.Fprintf(w, "%s is wrong: %s\n", c.ID, c.Text)
	}
	fmt.Fprintln(w)
	return all.Wrong > 0, apart
}

func printPlanted(w io.Writer) (bad bool) {
	results := conformance.RunPlanted()
	found := 0
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "PLANTED\tENGINE\tWORKLOAD\tFOUND")
	for _, r := range results {
		text := r.Finds
		if r.Err != nil {
			text = "WRONG: " + r.Err.Error()
			bad = true
		} else {
			found++
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", r.Defect(), r.Profile, r.Scene, shortened(text))
	}
	_ = t.Flush() // to the terminal
	fmt.Fprintf(w, "%d of %d found with exactly these ids, and nothing without the defect\n\n", found, len(results))
	return bad
}

// shortened keeps a line of the table on a screen.
func shortened(text string) string {
	const most = 120
	if len(text) <= most {
		return text
	}
	return text[:most] + " ..."
}

func printRules(w io.Writer, cases []conformance.Case) (bad bool, err error) {
	results, err := conformance.Mutate(cases)
	if err != nil {
		return false, err
	}
	missed := 0
	for _, r := range results {
		if r.MissedBy != "" {
			missed++
			continue
		}
		bad = true
		fmt.Fprintf(w, "nothing misses the rule %q\n", r.Rule)
	}
	fmt.Fprintf(w, "%d of %d rules, each taken away by itself, are missed by a case or a planted defect\n", missed, len(results))
	return bad, nil
}
