// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/faults"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/inmem/drive"
	"github.com/seed-720a3c77/harness/runner"
	"github.com/seed-720a3c77/harness/workloads"
)

// Foresight predicts runs on brokers by the models of these brokers.
type Foresight struct {
	// Seeds is how many runs the model has; 0 is 1,000.
	Seeds int
	// Workers in parallel; 0 is one for each processor.
	Workers int
	Faults  []faults.Kind
	// Links are those of the model.
	Links func(e *drive.Engine, p *runner.Plan) runner.Links
	// Profile changes the profile that the run reports; nil leaves it.
	Profile func(contract.Profile) contract.Profile
}

const defaultForesight = 1000

// Predict repeats a recorded run on the model of its broker, under many seeds and the run's
// own conditions, and puts the ranges beside what was measured. Where the model cannot run
// the workload the prediction is missing, with the reason.
func (f Foresight) Predict(ctx context.Context, run *history.Run, measured *checkers.Result) (checkers.Prediction, error) {
	space, err := f.space(run)
	var inapplicable *runner.NotApplicable
	switch {
	case errors.As(err, &inapplicable):
		return checkers.Prediction{Model: run.Header.Profile.Name, Missing: inapplicable.Reason}, nil
	case err != nil:
		return checkers.Prediction{}, fmt.Errorf("predict %s: %w", run.Header.Run, err)
	}
	trials, err := f.trials(ctx, space, measured.ActiveFaults())
	if err != nil {
		return checkers.Prediction{}, fmt.Errorf("predict %s: %w", run.Header.Run, err)
	}
	p := checkers.Prediction{Model: space.Profile.Name, Repeats: 1, First: 1, Seeds: len(trials), Conditions: space.words()}
	if len(trials) == 0 {
		p.Missing = "in no seed did every fault of the run come"
		return p, nil
	}
	summary := summarize(trials, nil)
	counts := Outcomes(measured)
	p.Histories = summary.Histories
	p.Counts, p.Zero = beside(counts, summary.Counts, &space)
	p.Measure(counts)
	return p, nil
}

// trials are the seeds in which as many faults came as in the run.
func (f Foresight) trials(ctx context.Context, space Space, came int) (map[uint64]Trial, error) {
	kept := map[uint64]Trial{}
	keep := func(t Trial) error {
		if len(t.Hit) == came {
			together(t.Counts, space.Profile.Model)
			kept[t.Seed] = t
		}
		return nil
	}
	request := Request{Space: space, First: 1, Seeds: cmp.Or(f.Seeds, defaultForesight), Workers: f.Workers, Each: keep}
	_, err := Run(ctx, request)
	return kept, errors.Join(err, ctx.Err())
}

// space is a run's own workload on the profile that it reports, under its conditions.
func (f Foresight) space(run *history.Run) (Space, error) {
	h := &run.Header
	s := Space{Variant: h.Variant, Profile: h.Profile, Faults: f.Faults, Links: f.Links, FixedFaults: true, given: &given{scale: h.Scale}}
	if f.Profile != nil {
		s.Profile = f.Profile(s.Profile)
	}
	spec, err := workloads.Recorded(h.Workload, h.Variant, []byte(h.Spec))
	if err != nil {
		return s, err
	}
	spec.Fidelity = "" // what only a broker shows is what the model is asked about
	s.written = spec
	plan, err := s.plan(spec)
	if err != nil {
		return s, err
	}
	takes, cooperative := map[string]time.Duration{}, false
	for _, g := range plan.Groups {
		takes[g.Group] = g.Takes
		cooperative = cooperative || g.Spec.Strategy == "cooperative-sticky"
	}
	*s.given, err = measure(run, takes, cooperative)
	for i := range s.given.Faults {
		if !plan.Waits(i + 1) {
			s.given.Faults[i].Since = 0
		}
	}
	return s, err
}

// words say what was taken from the run.
func (s *Space) words() []string {
	g := s.given
	sent := 0
	for _, producer := range g.Sent {
		sent += len(producer)
	}
	said := []string{fmt.Sprintf("load: %d messages at their measured times", sent)}
	for i, fault := range g.Faults {
		if i == maxFaultWords {
			said = append(said, fmt.Sprintf("and %d more faults at their measured times", len(g.Faults)-i))
			break
		}
		said = append(said, fmt.Sprintf("fault f%d: %s", i+1, faultWords(fault)))
	}
	if g.Settled > 0 {
		said = append(said, "groups had their partitions "+rough(g.Settled)+" before the load, as measured")
	}
	if g.rebalance.high > 0 {
		said = append(said, fmt.Sprintf("rebalances: a member joins again %s after its revocation, one has its session %s after the last has joined, the others at most %s later, each partition %s after that",
			g.release, g.rebalance, g.answer.most().Round(10*time.Microsecond), g.claim))
	}
	if g.beat.high > 0 {
		said = append(said, "heartbeats take as long as commits, behind which they wait")
	}
	if s.Profile.Order == contract.OrderNone {
		said = append(said, "order is not predicted, for none is promised")
	}
	return append(said,
		fmt.Sprintf("network jitter: each publish stored between its start and its own answer (after %s); settle %s, receive %s, there and back", g.publish, g.settle, g.receive),
		fmt.Sprintf("handlers, polls and schedules: late by %s, in spells of %s as measured", g.late, spell))
}

const maxFaultWords = 4

func faultWords(f runner.MeasuredFault) string {
	switch {
	case f.Requested == runner.Never:
		return "never came, nor does it here"
	case f.Since > 0:
		return fmt.Sprintf("at its point, %s into the load at the earliest; measured %s", rough(f.Since), rough(f.Requested))
	}
	return rough(f.Requested) + " into the load, as measured"
}

func rough(d time.Duration) string { return d.Round(time.Millisecond).String() }

// beside lists the counts that the run has, with the range of the seeds; the second is how
// many were 0 everywhere. Times stand there only where they are more than jitter.
func beside(measured map[string]int64, ranges map[string]Range, s *Space) ([]checkers.Predicted, int) {
	var all []checkers.Predicted
	zero := 0
	names := maps.Clone(measured)
	for name := range ranges {
		if _, known := names[name]; !known && isPart(name) {
			names[name] = 0
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		r, known := ranges[name]
		n := names[name]
		switch {
		case name == generations && s.Profile.Model != contract.Log:
		case isLoad(name) || isOrder(name) && s.Profile.Order == contract.OrderNone:
		case isTime(name) && (!known || max(n, r.Median) < meaningful(s.given)):
		case n == 0 && r.Max == 0 && !isHeadline(name):
			zero++
		default:
			p := checkers.Predicted{Name: name, Measured: n, Min: r.Min, P5: r.P5, Median: r.Median, P95: r.P95, Max: r.Max}
			if isTime(name) {
				p.Slack = s.Profile.Tolerance.Milliseconds()
			}
			all = append(all, p)
		}
	}
	return all, zero
}

// meaningful is from how many milliseconds on a time is more than the jitters it came from.
func meaningful(g *given) int64 {
	return 10 * max(g.late.high, g.publish.high, g.settle.high, g.receive.high).Milliseconds()
}

// isLoad: what the run was given, or how its samples and seconds fell, predicts nothing.
func isLoad(name string) bool {
	return strings.HasPrefix(name, "lag.") || strings.HasPrefix(name, generations+".") || slices.Contains([]string{"published", "call-overrun", "client-retries", recoveryMs, unrecovered}, name)
}

// isOrder: where none is promised, it is a matter of microseconds in the broker.
func isOrder(name string) bool { return strings.HasPrefix(name, "order-") }

// isHeadline: shown even where it is 0 everywhere.
func isHeadline(name string) bool {
	return slices.Contains([]string{"lost", "redelivered", "effect-duplicates", "undrained", "dead-lettered", "deliveries"}, name)
}
