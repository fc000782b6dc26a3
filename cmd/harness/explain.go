// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
	"github.com/seed-720a3c77/harness/reports"
)

func explainVerb() *cobra.Command {
	return &cobra.Command{
		Use:   "explain RUN ID",
		Short: "tell the life of one message: who held it, why it came again, where it ended",
		Args:  exactly(2, "one run's directory and the id of a message, such as p0/17"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := msg.ParseID(args[1])
			if err != nil {
				return usage(err)
			}
			run, err := openRun(args[0])
			if err != nil {
				return usage(err)
			}
			return explain(cmd.OutOrStdout(), run, id)
		},
	}
}

// openRun opens a run by its directory, or by that of a suite of one.
func openRun(dir string) (*history.Run, error) {
	dirs, err := runDirs(dir)
	if err != nil {
		return nil, err
	}
	if len(dirs) == 1 {
		return history.Open(dirs[0])
	}
	names := make([]string, len(dirs))
	for i := range dirs {
		names[i] = filepath.Base(dirs[i])
	}
	return nil, fmt.Errorf("%s holds %d runs, want one of %s", dir, len(dirs), strings.Join(names, ", "))
}

func explain(w io.Writer, run *history.Run, id msg.ID) error {
	life, err := checkers.Explain(run, id)
	if err != nil {
		return err
	}
	if len(life.Steps) == 0 {
		return usage(fmt.Errorf("nothing is recorded of %s; %s", id, producersOf(run)))
	}
	found, err := findingsAbout(run, id)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s of %s\n\n", id, run.Header.Run)
	if err := printLife(w, &life); err != nil {
		return err
	}
	for _, text := range found {
		fmt.Fprintf(w, "\n%s\n", text)
	}
	return nil
}

// producersOf says which ids there are.
func producersOf(run *history.Run) string {
	if len(run.Header.Producers) == 0 {
		return "the run has no producers"
	}
	last := len(run.Header.Producers) - 1
	return fmt.Sprintf("the producers are p0 to p%d", last)
}

// printLife writes a step a line; what was not recorded but concluded has no event.
func printLife(w io.Writer, life *checkers.Life) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprint(t, "at\tevent\twho\twhat\n")
	for i := range life.Steps {
		s := &life.Steps[i]
		event := "-"
		if !s.Inferred {
			event = fmt.Sprint(s.Event)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", reports.Duration(s.AtNs), event, s.Lane, stepText(s))
	}
	return t.Flush()
}

func stepText(s *checkers.LifeStep) string {
	switch {
	case s.Effect > 1:
		return fmt.Sprintf("%s, number %d", s.Text, s.Effect)
	case s.UntilNs > 0 && s.Kind == history.Delivery.String():
		return s.Text + ", held until " + reports.Duration(s.UntilNs)
	}
	return s.Text
}

// findingsAbout are the findings that name a message, a line each, and what they mean.
func findingsAbout(run *history.Run, id msg.ID) (lines []string, err error) {
	result, err := checkers.CheckWith(run, checkers.Terms{Examples: math.MaxInt})
	if err != nil {
		return nil, err
	}
	for i := range result.Anomalies {
		a := &result.Anomalies[i]
		for k := range a.Examples {
			if x := &a.Examples[k]; x.ID == id {
				lines = append(lines, fmt.Sprintf("%s (%s): %s\n  %s", a.Name, a.Kind, a.Doc, because(x)))
			}
		}
	}
	return lines, nil
}

// because is what was seen, why, and in which fault.
func because(x *checkers.Example) string {
	parts := []string{x.Text}
	if x.Cause != "" {
		parts = append(parts, "cause: "+x.Cause)
	}
	if x.Fault != "" {
		parts = append(parts, "during "+x.Fault)
	}
	if len(x.Events) > 0 {
		parts = append(parts, "events "+strings.Trim(fmt.Sprint(x.Events), "[]"))
	}
	return strings.Join(parts, "; ")
}
