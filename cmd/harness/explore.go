// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/seed-720a3c77/harness/contract/profiles"
	"github.com/seed-720a3c77/harness/explore"
	"github.com/seed-720a3c77/harness/internal/catalog"
	"github.com/seed-720a3c77/harness/workloads"
)

type exploreFlags struct {
	on, variant, resume string
	seeds               int
	first               uint64
	stop, shrink, fixed bool
}

func exploreVerb() *cobra.Command {
	var f exploreFlags
	cmd := &cobra.Command{
		Use:   "explore WORKLOAD",
		Short: "run a workload under many seeds on the in-memory engine, and shrink what breaks",
		Args:  exactly(1, "one workload: a name or a .yaml file"),
		RunE:  func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	cmd.Flags().StringVar(&f.on, "on", catalog.InMemory+"kafka", "one in-memory engine: inmem:PROFILE")
	cmd.Flags().StringVar(&f.variant, "variant", "", "the variant; needed where there are several")
	cmd.Flags().IntVar(&f.seeds, "seeds", 1000, "how many seeds")
	cmd.Flags().Uint64Var(&f.first, "first", 1, "the first seed")
	cmd.Flags().BoolVar(&f.stop, "stop-on-violation", false, "end at the first seed that breaks a claim")
	cmd.Flags().BoolVar(&f.shrink, "shrink", true, "shrink the first seed that breaks a claim and write it as a workload file")
	cmd.Flags().BoolVar(&f.fixed, "fixed-faults", false, "leave the faults where the workload puts them")
	cmd.Flags().StringVar(&f.resume, "resume", "", "file that keeps the trials, to go on after an interruption")
	return cmd
}

func (f *exploreFlags) run(cmd *cobra.Command, name string) error {
	space, err := f.space(name)
	if err != nil {
		return usage(err)
	}
	request := explore.Request{Space: space, First: f.first, Seeds: f.seeds, StopOnViolation: f.stop}
	closeFile, err := f.keep(&request)
	if err != nil {
		return usage(err)
	}
	summary, err := explore.Run(cmd.Context(), request)
	if err = errors.Join(err, closeFile()); err != nil {
		return err
	}
	if err := printSummary(cmd.OutOrStdout(), summary); err != nil {
		return err
	}
	if len(summary.Broken) == 0 {
		return nil
	}
	if f.shrink {
		if err := writeShrunk(cmd.OutOrStdout(), &space, summary.Broken[0].Seed); err != nil {
			return err
		}
	}
	return &exit{code: exitViolated, quiet: true}
}

func (f *exploreFlags) space(name string) (explore.Space, error) {
	s := explore.Space{Variant: f.variant, Faults: catalog.Faults(), FixedFaults: f.fixed}
	if f.seeds < 1 {
		return s, errors.New("seeds count from 1")
	}
	doc, err := workloads.Find(name)
	if err != nil {
		return s, err
	}
	s.Document = doc
	if _, err := doc.Spec(f.variant); err != nil {
		return s, err
	}
	short, ok := strings.CutPrefix(f.on, catalog.InMemory)
	if !ok {
		return s, fmt.Errorf("explore runs on the in-memory engine: want --on %sPROFILE, got %q", catalog.InMemory, f.on)
	}
	s.Profile, err = profiles.Named(short)
	return s, err
}

// keep reads the trials of an interrupted exploration and appends the new ones.
func (f *exploreFlags) keep(r *explore.Request) (func() error, error) {
	if f.resume == "" {
		return func() error { return nil }, nil
	}
	file, err := os.OpenFile(f.resume, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("resume: %w", err)
	}
	if r.Done, err = readTrials(file); err != nil {
		return nil, errors.Join(fmt.Errorf("resume %s: %w", f.resume, err), file.Close())
	}
	w := json.NewEncoder(file)
	r.Each = func(t explore.Trial) error { return w.Encode(t) }
	return file.Close, nil
}

// readTrials reads one trial a line; a last line cut off by a crash is tried again.
func readTrials(r io.Reader) (map[uint64]explore.Trial, error) {
	done := map[uint64]explore.Trial{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var t explore.Trial
		if err := json.Unmarshal(lines.Bytes(), &t); err != nil {
			continue
		}
		done[t.Seed] = t
	}
	return done, lines.Err()
}

func printSummary(w io.Writer, s explore.Summary) error {
	fmt.Fprintf(w, "%d seeds, %d broke a claim or expectation\n\n", s.Seeds, len(s.Broken))
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "COUNT\tMIN\tMEDIAN\tMAX\tIN SEEDS\tSEED OF MAX")
	for _, name := range slices.Sorted(maps.Keys(s.Counts)) {
		if r := s.Counts[name]; r.Max > 0 {
			fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\n", name, r.Min, r.Median, r.Max, s.Seeds-r.Zero, r.MaxSeed)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if len(s.Hit) > 0 {
		fmt.Fprintf(w, "\nfault points that came: %d\n", len(s.Hit))
		for _, hit := range slices.Sorted(maps.Keys(s.Hit)) {
			fmt.Fprintf(w, "  %s: %d seeds\n", hit, s.Hit[hit])
		}
	}
	for i, b := range s.Broken {
		if i == 10 {
			fmt.Fprintf(w, "and %d more seeds\n", len(s.Broken)-i)
			break
		}
		fmt.Fprintf(w, "seed %d breaks %s\n", b.Seed, strings.Join(b.Broken, ", "))
	}
	return nil
}

func writeShrunk(w io.Writer, space *explore.Space, seed uint64) error {
	shrunk, err := space.Shrink(seed)
	if err != nil {
		return err
	}
	file := fmt.Sprintf("%s.seed-%d.yaml", shrunk.Spec.Name, seed)
	text, err := workloads.Encode(shrunk.Spec, fmt.Sprintf("seed %d breaks %s; shrunk in %d tries", seed, strings.Join(shrunk.Trial.Broken, ", "), shrunk.Tried))
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return fmt.Errorf("shrunk workload: %w", err)
	}
	fmt.Fprintf(w, "\nshrunk in %d tries to %s; replay it with: harness run %s --on %s%s\n\n", shrunk.Tried, file, file, catalog.InMemory, space.Profile.Name)
	return explore.Diagram(w, shrunk.Run)
}
