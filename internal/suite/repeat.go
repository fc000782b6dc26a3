// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/contract"
)

// Forever repeats until something stops it.
const Forever = math.MaxInt

// Soak is a suite repeated, and what all its repeats showed together.
type Soak struct {
	Request
	// Times is how often, or Forever.
	Times int
	// StopOnViolation ends after the first repeat with an unforeseen violation.
	StopOnViolation bool

	cells map[string]*soaked
	order []string
	// broken are the runs of earlier repeats that must not be forgotten.
	broken []checkers.Result
}

// soaked is one cell over all repeats.
type soaked struct {
	runs, violated, inconclusive int
	lost, unexplained, twice     int64
	first                        string // directory of the first violation
}

// Run repeats the suite. Every repeat has a directory of its own, with another seed; what
// passed keeps its results but not its histories, so that a soak of days needs no disk
// for days. The results are those of the last repeat and every violation before it.
func (s *Soak) Run(ctx context.Context) (checkers.Results, error) {
	s.cells = map[string]*soaked{}
	if err := create(s.Out); err != nil {
		return checkers.Results{}, err
	}
	var last checkers.Results
	for n := 1; n <= s.Times; n++ {
		one := s.Request
		one.Out = filepath.Join(s.Out, fmt.Sprintf("repeat-%05d", n))
		one.Seed += uint64(n - 1)
		results, err := Run(ctx, one)
		if err != nil {
			return results, errors.Join(err, Write(filepath.Join(s.Out, ResultsFile), &results))
		}
		s.broken = append(s.broken, unforeseen(last.Runs)...)
		last = results
		violated := s.add(one.Out, &results)
		if violated && s.StopOnViolation || s.Stop != nil && s.Stop.Load() || ctx.Err() != nil {
			break
		}
		if err := forget(one.Out, &results); err != nil {
			return last, err
		}
	}
	last.Runs = append(s.broken, last.Runs...)
	return last, Write(filepath.Join(s.Out, ResultsFile), &last)
}

// unforeseen are the runs that broke something.
func unforeseen(runs []checkers.Result) []checkers.Result {
	var broken []checkers.Result
	for _, r := range runs {
		if checkers.ExitCode(r) == checkers.ExitViolated {
			broken = append(broken, r)
		}
	}
	return broken
}

// add counts a repeat and tells whether it broke something that was not foreseen.
func (s *Soak) add(dir string, results *checkers.Results) bool {
	broken := false
	for i := range results.Runs {
		r := &results.Runs[i]
		c := s.cell(r.Workload + " " + r.Variant + " on " + r.Engine)
		c.runs++
		c.lost += r.Counts["lost"]
		c.unexplained += r.Counts["unexplained"]
		c.twice += r.Counts["effect-duplicates"]
		switch checkers.ExitCode(*r) {
		case checkers.ExitViolated:
			broken = true
			c.violated++
			if c.first == "" {
				c.first = filepath.Join(dir, r.Dir)
			}
		case checkers.ExitInconclusive:
			c.inconclusive++
		}
	}
	return broken
}

func (s *Soak) cell(name string) *soaked {
	if s.cells[name] == nil {
		s.cells[name] = new(soaked)
		s.order = append(s.order, name)
	}
	return s.cells[name]
}

// forget removes the histories of the runs that passed.
func forget(dir string, results *checkers.Results) error {
	for i := range results.Runs {
		r := &results.Runs[i]
		if r.Verdict != contract.Pass && !r.AsExpected {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, r.Dir)); err != nil {
			return fmt.Errorf("soak: %w", err)
		}
	}
	return nil
}

// Print writes a line for every cell. A zero carries its bound: none in n runs means that
// with 95 % confidence fewer than 3/n of all runs do it.
func (s *Soak) Print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "CELL\tRUNS\tVIOLATED\tINCONCLUSIVE\tLOST\tUNEXPLAINED\tEFFECTS TWICE")
	for _, name := range s.order {
		c := s.cells[name]
		fmt.Fprintf(t, "%s\t%d\t%s\t%d\t%d\t%d\t%d\n", name, c.runs, bounded(c.violated, c.runs), c.inconclusive, c.lost, c.unexplained, c.twice)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, name := range s.order {
		if first := s.cells[name].first; first != "" {
			fmt.Fprintf(w, "%s: first violation kept in %s\n", name, first)
		}
	}
	return nil
}

// bounded writes a count of n, and for none the upper end of its 95 % interval.
func bounded(count, n int) string {
	if count > 0 || n == 0 {
		return fmt.Sprint(count)
	}
	return fmt.Sprintf("0 (below %.1f %%)", 100*(1-math.Pow(0.05, 1/float64(n))))
}
