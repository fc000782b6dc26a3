// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/contract/profiles"
	"github.com/seed-720a3c77/harness/internal/catalog"
	"github.com/seed-720a3c77/harness/internal/testenv"
	"github.com/seed-720a3c77/harness/workloads"
)

// foretell runs a variant on a real broker with a prediction, so many times.
func foretell(t *testing.T, workload, variant, engine string, times int, predicting *Predicting) *checkers.Result {
	t.Helper()
	engines, err := catalog.FindAll(engine)
	if err != nil {
		t.Fatal(err)
	}
	testenv.Broker(t, engines[0].Broker)
	doc, err := workloads.Find(workload)
	if err != nil {
		t.Fatal(err)
	}
	brokers, err := catalog.NewBrokers(catalog.Providing{Only: "external"})
	if err != nil {
		t.Fatal(err)
	}
	soak := Soak{Times: times, Request: Request{
		Workloads: []*workloads.Document{doc}, Variants: strings.Split(variant, "+"), Engines: engines,
		Out: filepath.Join(t.TempDir(), "suite"), Connect: brokers.Connect, Predict: predicting,
	}}
	results, err := soak.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(results.Runs) == 0 {
		t.Fatalf("%s %s on %s: not run: %+v", workload, variant, engine, results.NotRun)
	}
	r := &results.Runs[len(results.Runs)-1]
	if r.Prediction == nil || r.Prediction.Missing != "" {
		t.Fatalf("%s %s on %s has no prediction: %+v", workload, variant, engine, r.Prediction)
	}
	return r
}

// TestModelPredictsTheBroker: the section is there, its seeds differ, and it has the counts
// that matter. One count outside is a note, for the machine may be busy, and fails nothing.
func TestModelPredictsTheBroker(t *testing.T) {
	for _, engine := range []string{"kafka", "sqs", "rabbitmq"} {
		t.Run(engine, func(t *testing.T) {
			for _, c := range []struct{ workload, variant string }{{"crash-mid-batch", "after-batch"}, {"poison-pill", "dead-letter"}} {
				r := foretell(t, c.workload, c.variant, engine, 1, NewPredicting(60))
				p := r.Prediction
				if p.Model != r.Profile.Name || p.Repeats != 1 || p.Seeds == 0 || p.Histories*10 < p.Seeds*9 {
					t.Errorf("%s: model %q of %q, %d histories in %d seeds", c.workload, p.Model, r.Profile.Name, p.Histories, p.Seeds)
				}
				for _, name := range []string{"lost", "redelivered", "effect-duplicates", "undrained", "deliveries"} {
					if !slices.ContainsFunc(p.Counts, func(c checkers.Predicted) bool { return c.Name == name }) {
						t.Errorf("%s: %s is not predicted", c.workload, name)
					}
				}
				_, notes := p.Outside()
				for _, n := range notes {
					t.Logf("%s: note: %s measured %d, predicted %d to %d", c.workload, n.Name, n.Measured, n.Min, n.Max)
				}
			}
		})
	}
}

// TestWrongProfileIsAFinding: a model that is wrong about a broker, here that of another
// product, is outside in three of three repeats. It violates no claim.
func TestWrongProfileIsAFinding(t *testing.T) {
	for engine, other := range map[string]string{"kafka": "localstack", "sqs": "kafka", "rabbitmq": "localstack"} {
		t.Run(engine, func(t *testing.T) {
			wrong, err := profiles.Named(other)
			if err != nil {
				t.Fatal(err)
			}
			predicting := NewPredicting(30)
			predicting.Profile = func(contract.Profile) contract.Profile { return wrong }
			r := foretell(t, "crash-mid-batch", "after-batch", engine, 3, predicting)
			findings, _ := r.Prediction.Outside()
			if r.Prediction.Repeats != 3 || !slices.ContainsFunc(findings, func(c checkers.Predicted) bool { return c.Name == "redelivered" }) {
				t.Fatalf("%d repeats, and redelivered is no finding: %+v", r.Prediction.Repeats, r.Prediction.Counts)
			}
			if code := checkers.ExitCode(*r); code != checkers.ExitPass {
				t.Errorf("a finding of the model is no violated claim, got exit %d", code)
			}
		})
	}
}
