// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"context"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/contract/profiles"
	"github.com/seed-720a3c77/harness/faults"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/inmem/drive"
	"github.com/seed-720a3c77/harness/runner"
	"github.com/seed-720a3c77/harness/workloads"
)

// recorded is a run that is to be predicted: of a model, so that nothing but the model can
// be wrong. Its clients only write, as those of a broker do.
func recorded(t *testing.T, workload, variant, profile string, seed uint64) (*history.Run, checkers.Result) {
	t.Helper()
	doc, err := workloads.Find(workload)
	if err != nil {
		t.Fatal(err)
	}
	p, err := profiles.Named(profile)
	if err != nil {
		t.Fatal(err)
	}
	s := Space{Document: doc, Variant: variant, Profile: p, Faults: predicted().Faults, FixedFaults: true, Bugs: drive.Options{Written: true}}
	spec, err := s.spec(seed)
	if err != nil {
		t.Fatal(err)
	}
	result, run, err := s.play(spec, seed)
	if err != nil {
		t.Fatal(err)
	}
	return run, result
}

func predicted() Foresight {
	return Foresight{Seeds: 60, Faults: []faults.Kind{faults.Kill(), faults.Start(), faults.KillBroker()},
		Links: func(*drive.Engine, *runner.Plan) runner.Links { return nil }}
}

// TestModelPredictsItself: a run of a model is inside of what its own profile gives, and the
// seeds have histories of their own.
func TestModelPredictsItself(t *testing.T) {
	for _, profile := range []string{"kafka", "localstack", "rabbitmq"} {
		for _, c := range []struct{ workload, variant string }{{"crash-mid-batch", "after-batch"}, {"poison-pill", "dead-letter"}, {"steady", ""}} {
			run, result := recorded(t, c.workload, c.variant, profile, 7)
			p, err := predicted().Predict(context.Background(), run, &result)
			if err != nil {
				t.Fatal(err)
			}
			if findings, notes := p.Outside(); len(findings)+len(notes) > 0 {
				t.Errorf("%s on %s: outside: %+v", c.workload, profile, notes)
			}
			if p.Missing != "" || p.Seeds < 50 || p.Histories < p.Seeds*9/10 {
				t.Errorf("%s on %s: %d histories in %d seeds, missing %q", c.workload, profile, p.Histories, p.Seeds, p.Missing)
			}
			if !strings.Contains(strings.Join(p.Conditions, "\n"), "at their measured times") {
				t.Errorf("%s on %s: the conditions do not tell the load: %q", c.workload, profile, p.Conditions)
			}
		}
	}
}

// TestAnotherModelIsOutside: batches of ten tell what batches of a hundred cannot.
func TestAnotherModelIsOutside(t *testing.T) {
	run, result := recorded(t, "crash-mid-batch", "after-batch", "kafka", 7)
	wrong, err := profiles.Named("localstack")
	if err != nil {
		t.Fatal(err)
	}
	f := predicted()
	f.Profile = func(contract.Profile) contract.Profile { return wrong }
	p, err := f.Predict(context.Background(), run, &result)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range p.Counts {
		if c.Name == "redelivered" && !c.Outside() {
			t.Errorf("redelivered %d is inside of %d to %d", c.Measured, c.Min, c.Max)
		}
	}
	if _, notes := p.Outside(); len(notes) == 0 {
		t.Error("nothing is outside")
	}
}

// TestNoModelOfAProcess: what only a broker can do is not predicted, with the reason.
func TestNoModelOfAProcess(t *testing.T) {
	run, result := recorded(t, "steady", "", "kafka", 1)
	doc, err := workloads.Find("broker-restart")
	if err != nil {
		t.Fatal(err)
	}
	spec, err := doc.Spec("killed")
	if err != nil {
		t.Fatal(err)
	}
	run.Header.Spec, run.Header.Variant = spec.Source, "killed"
	p, err := predicted().Predict(context.Background(), run, &result)
	if err != nil || !strings.Contains(p.Missing, "no process") {
		t.Errorf("missing %q, %v; want that the model has no process", p.Missing, err)
	}
}
