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

// predictedOn asks for a variant, or all, of a workload on a real broker, with a prediction.
func predictedOn(t *testing.T, workload, variant, engine string, predicting *Predicting) Request {
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
	var variants []string
	if variant != "" {
		variants = strings.Split(variant, "+")
	}
	return Request{
		Workloads: []*workloads.Document{doc}, Variants: variants, Engines: engines, Out: filepath.Join(t.TempDir(), "suite"),
		Connect: brokers.Connect, Predict: predicting,
	}
}

// foretell runs a variant on a real broker with a prediction, so many times.
func foretell(t *testing.T, workload, variant, engine string, times int, predicting *Predicting) *checkers.Result {
	t.Helper()
	soak := Soak{Times: times, Request: predictedOn(t, workload, variant, engine, predicting)}
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
// that matter. What the workload alone decides is inside, on any machine: a message that
// always fails is a dead letter, and what was sent again for want of an answer is stored
// twice. Another count outside is a note, for the machine may be busy, and fails nothing.
func TestModelPredictsTheBroker(t *testing.T) {
	for _, engine := range brokersUnderTest {
		t.Run(engine, func(t *testing.T) {
			for _, c := range []struct {
				workload, variant string
				least             map[string]int64
			}{
				{"crash-mid-batch", "after-batch", nil},
				{"poison-pill", "dead-letter", map[string]int64{"dead-lettered": 1}},
				{"unknown-answers", "publish-resent", map[string]int64{"stored-twice": 20}},
			} {
				r := foretell(t, c.workload, c.variant, engine, 1, NewPredicting(60))
				p := r.Prediction
				if p.Model != r.Profile.Name || p.Repeats != 1 || p.Seeds == 0 || p.Histories*10 < p.Seeds*9 {
					t.Errorf("%s: model %q of %q, %d histories in %d seeds", c.workload, p.Model, r.Profile.Name, p.Histories, p.Seeds)
				}
				for _, name := range []string{"lost", "redelivered", "effect-duplicates", "undrained", "deliveries"} {
					if _, known := foretold(p, name); !known {
						t.Errorf("%s: %s is not predicted", c.workload, name)
					}
				}
				for name, n := range c.least {
					if got, _ := foretold(p, name); got.Min > n || got.Max < n || got.Measured < n || got.Outside() {
						t.Errorf("%s: %s is %d or more on the broker, and foreseen: %+v", c.workload, name, n, got)
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

// TestWrongProfileIsAFinding: a model that is wrong about a broker, here in that it knows by
// its deduplication id what was sent again, is outside in three of three repeats. None of its
// seeds can store a message twice, and none of the brokers can help it. It violates no claim.
func TestWrongProfileIsAFinding(t *testing.T) {
	wrong, err := profiles.Named("localstack-fifo")
	if err != nil {
		t.Fatal(err)
	}
	for _, engine := range brokersUnderTest {
		t.Run(engine, func(t *testing.T) {
			testenv.Broker(t, engine)
			t.Parallel()
			predicting := NewPredicting(30)
			predicting.Profile = func(contract.Profile) contract.Profile { return wrong }
			r := foretell(t, "unknown-answers", "publish-resent", engine, 3, predicting)
			copies, _ := foretold(r.Prediction, "stored-twice")
			if r.Prediction.Repeats != 3 || copies.Max != 0 || copies.Measured == 0 || !copies.Finding() {
				t.Fatalf("%d repeats, and what is stored twice is no finding: %+v of %+v", r.Prediction.Repeats, copies, r.Prediction.Counts)
			}
			bare := *r
			bare.Prediction = nil
			if code, without := checkers.ExitCode(*r), checkers.ExitCode(bare); code != without {
				t.Errorf("a finding of the model is no violated claim, yet exit %d became %d: %s", without, code, r.Sentence)
			}
		})
	}
}

// foretold is one count of a prediction.
func foretold(p *checkers.Prediction, name string) (checkers.Predicted, bool) {
	i := slices.IndexFunc(p.Counts, func(c checkers.Predicted) bool { return c.Name == name })
	if i < 0 {
		return checkers.Predicted{}, false
	}
	return p.Counts[i], true
}
