// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-720a3c77/harness/contract/profiles"
	"github.com/seed-720a3c77/harness/explore"
	"github.com/seed-720a3c77/harness/internal/catalog"
	"github.com/seed-720a3c77/harness/internal/suite"
	"github.com/seed-720a3c77/harness/workloads"
)

type exploreFlags struct {
	on, variant, resume string
	seeds               int
	first               uint64
	stop, shrink, fixed bool
	json                bool
	jitter              time.Duration
}

// maxJitter is what the patience of clients and workers can bear.
const maxJitter = 10 * time.Second

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
	cmd.Flags().DurationVar(&f.jitter, "jitter", explore.DefaultJitter, "bound of the latency of each way between client and broker; the lower half is certain, the rest by the seed")
	cmd.Flags().BoolVar(&f.json, "json", false, "print the summary as JSON")
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
	if os.Getenv("GOGC") == "" { // a trial is forgotten at once: to collect seldom saves a third of the time
		defer debug.SetGCPercent(debug.SetGCPercent(800))
	}
	summary, err := explore.Run(cmd.Context(), request)
	if err = errors.Join(err, closeFile()); err != nil {
		return err
	}
	if err := f.show(cmd.OutOrStdout(), &space, summary); err != nil {
		return err
	}
	if len(summary.Broken) == 0 {
		return nil
	}
	if f.shrink {
		told := cmd.OutOrStdout()
		if f.json {
			told = cmd.ErrOrStderr()
		}
		if err := writeShrunk(told, &space, summary.Broken[0].Seed); err != nil {
			return err
		}
	}
	return &exit{code: exitViolated, quiet: true}
}

func (f *exploreFlags) show(w io.Writer, space *explore.Space, s explore.Summary) error {
	if !f.json {
		fmt.Fprintln(w, "each seed: "+space.Bounds())
		return printSummary(w, s)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "\t")
	return e.Encode(s)
}

func (f *exploreFlags) space(name string) (explore.Space, error) {
	s := explore.Space{Variant: f.variant, Faults: catalog.Faults(), Links: suite.ModelLinks, FixedFaults: f.fixed, Jitter: f.jitter}
	if f.seeds < 1 {
		return s, errors.New("seeds count from 1")
	}
	if f.jitter <= 0 || f.jitter > maxJitter {
		return s, fmt.Errorf("jitter is more than 0, without which seeds explore next to nothing, and at most %s", maxJitter)
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

func printSummary(w io.Writer, s explore.Summary) error {
	fmt.Fprintf(w, "%d seeds, %d different histories, %d broke a claim or expectation\n\n", s.Seeds, s.Histories, len(s.Broken))
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "COUNT\tMIN\tP5\tMEDIAN\tP95\tMAX\tIN SEEDS\tSEED OF MAX")
	for _, name := range slices.Sorted(maps.Keys(s.Counts)) {
		if r := s.Counts[name]; r.Max > 0 {
			fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", name, r.Min, r.P5, r.Median, r.P95, r.Max, s.Seeds-r.Zero, r.MaxSeed)
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	printPoints(w, s)
	printMoments(w, s)
	for i, b := range s.Broken {
		if i == 10 {
			fmt.Fprintf(w, "and %d more seeds\n", len(s.Broken)-i)
			break
		}
		fmt.Fprintf(w, "seed %d breaks %s\n", b.Seed, strings.Join(b.Broken, ", "))
	}
	return nil
}

// points are the numbered places of one kind at which faults came, and in how many seeds.
type points struct{ first, last, places, seeds int }

// printPoints lists where faults came; places that differ only by their number are one line.
func printPoints(w io.Writer, s explore.Summary) {
	fmt.Fprintf(w, "\nfault points that came: %d\n", len(s.Hit))
	kinds := map[string]*points{}
	for _, hit := range slices.Sorted(maps.Keys(s.Hit)) {
		i, seeds := strings.LastIndexByte(hit, ' '), s.Hit[hit]
		number, err := strconv.Atoi(hit[i+1:])
		if err != nil {
			fmt.Fprintf(w, "  %s: %d seeds\n", hit, seeds)
			continue
		}
		p := kinds[hit[:i]]
		if p == nil {
			p = &points{first: number}
			kinds[hit[:i]] = p
		}
		p.first, p.last = min(p.first, number), max(p.last, number)
		p.places, p.seeds = p.places+1, p.seeds+seeds
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		p := kinds[kind]
		fmt.Fprintf(w, "  %s: %d places from %d to %d, %d times\n", kind, p.places, p.first, p.last, p.seeds)
	}
}

// printMoments lists what was seen in how many seeds, and what in none.
func printMoments(w io.Writer, s explore.Summary) {
	fmt.Fprintln(w, "\nseen at least once:")
	never := []string{}
	for _, m := range s.Sometimes {
		if m.Seeds == 0 {
			never = append(never, m.Moment)
			continue
		}
		fmt.Fprintf(w, "  %s: %d seeds\n", m.Moment, m.Seeds)
	}
	if len(never) == len(s.Sometimes) {
		fmt.Fprintln(w, "  nothing")
	}
	if len(never) > 0 {
		fmt.Fprintln(w, "never seen, so that nothing is known of it:")
	}
	for _, moment := range never {
		fmt.Fprintf(w, "  %s\n", moment)
	}
	fmt.Fprintln(w)
}

// writeShrunk writes the smallest workload that breaks what a seed broke, and draws it as
// text and beside the file as a page.
func writeShrunk(w io.Writer, space *explore.Space, seed uint64) error {
	shrunk, err := space.Shrink(seed)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%s.seed-%d", shrunk.Spec.Name, seed)
	about := fmt.Sprintf("seed %d breaks %s; shrunk in %d tries", seed, strings.Join(shrunk.Trial.Broken, ", "), shrunk.Tried)
	page := name + ".html"
	text, err := workloads.Encode(shrunk.Spec, about+"; drawn in "+page)
	if err != nil {
		return err
	}
	write := func(w io.Writer) error { _, err := w.Write(text); return err }
	if err := replaceFile(name+".yaml", write); err != nil {
		return fmt.Errorf("shrunk workload: %w", err)
	}
	replay := fmt.Sprintf("harness run %s.yaml --on %s%s", name, catalog.InMemory, space.Profile.Name)
	drawing, err := explore.Draw(shrunk.Run)
	if err != nil {
		return err
	}
	if err := writeSpacetime(page, spacetime(name, about, replay, &drawing)); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nshrunk in %d tries to %s.yaml, drawn in %s; replay it with: %s\n\n", shrunk.Tried, name, page, replay)
	return explore.Diagram(w, &drawing)
}
