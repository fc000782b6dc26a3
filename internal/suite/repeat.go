// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"cmp"
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
	"github.com/seed-720a3c77/harness/msg"
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
	runs, violated, inconclusive          int
	faults                                int // that were active
	lost, redelivered, unexplained, twice int64
	first                                 string // directory of the first violation
	ids                                   []msg.ID
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
		under(filepath.Base(one.Out), results.Runs)
		s.broken = append(s.broken, unforeseen(last.Runs)...)
		if err != nil {
			results.Runs = append(s.broken, results.Runs...)
			return results, errors.Join(err, Write(filepath.Join(s.Out, ResultsFile), &results))
		}
		last = results
		violated := s.add(&results)
		if violated && s.StopOnViolation || s.Stop != nil && s.Stop.Load() || ctx.Err() != nil {
			break
		}
		if err := forget(s.Out, &results); err != nil {
			return last, err
		}
	}
	last.Runs = append(s.broken, last.Runs...)
	return last, Write(filepath.Join(s.Out, ResultsFile), &last)
}

// under makes the directories of a repeat's runs those of the whole.
func under(repeat string, runs []checkers.Result) {
	for i := range runs {
		runs[i].Dir = filepath.Join(repeat, runs[i].Dir)
	}
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
func (s *Soak) add(results *checkers.Results) bool {
	broken := false
	for i := range results.Runs {
		r := &results.Runs[i]
		c := s.cell(r.Workload + " " + r.Variant + " on " + r.Engine)
		c.runs++
		c.faults += r.ActiveFaults()
		c.lost += r.Counts["lost"]
		c.redelivered += r.Counts["redelivered"]
		c.unexplained += r.Counts["unexplained"]
		c.twice += r.Counts["effect-duplicates"]
		switch checkers.ExitCode(*r) {
		case checkers.ExitViolated:
			broken = true
			c.violated++
			if c.first == "" {
				c.first, c.ids = filepath.Join(s.Out, r.Dir), culprits(r)
			}
		case checkers.ExitInconclusive:
			c.inconclusive++
		}
	}
	return broken
}

// culprits are the messages that the violated claims name.
func culprits(r *checkers.Result) (ids []msg.ID) {
	for i := range r.Claims {
		if c := &r.Claims[i]; c.Verdict == contract.Violated {
			ids = append(ids, c.IDs...)
		}
	}
	return ids
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

// Print writes a line for every cell. A zero carries its bound: none in n means that with
// 95 % confidence fewer than 3/n of all do it, where n counts the faults that struck, or the
// runs where there is none.
func (s *Soak) Print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "CELL\tRUNS\tVIOLATED\tINCONCLUSIVE\tFAULTS\tLOST\tREDELIVERED\tUNEXPLAINED\tEFFECTS TWICE")
	for _, name := range s.order {
		c := s.cells[name]
		n := cmp.Or(c.faults, c.runs)
		fmt.Fprintf(t, "%s\t%d\t%s\t%d\t%d\t%s\t%d\t%s\t%d\n", name, c.runs, bounded(c.violated, c.runs), c.inconclusive,
			c.faults, bounded(c.lost, n), c.redelivered, bounded(c.unexplained, n), c.twice)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, name := range s.order {
		s.cells[name].tell(w, name)
	}
	return nil
}

// tell says where the first violation is kept, and how to look at it.
func (c *soaked) tell(w io.Writer, name string) {
	if c.first == "" {
		return
	}
	fmt.Fprintf(w, "%s: first violation kept in %s\n", name, c.first)
	if len(c.ids) > 0 {
		fmt.Fprintf(w, "  harness explain %s %s\n", c.first, c.ids[0])
	}
}

// bounded writes a count of n, and for none the upper end of its 95 % interval.
func bounded[N int | int64](count N, n int) string {
	if count > 0 || n == 0 {
		return fmt.Sprint(count)
	}
	return fmt.Sprintf("0 (below %.1f %%)", 100*(1-math.Pow(0.05, 1/float64(n))))
}
