// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package suite

import (
	"context"
	"os"
	"testing"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/internal/testenv"
)

// foreseen are the runs whose counts the models of the brokers are held to.
var foreseen = []struct{ engine, workload, variant string }{
	{"kafka", "crash-mid-batch", "after-batch"}, {"kafka", "poison-pill", "dead-letter"}, {"kafka", "steady", ""},
	{"kafka", "rebalance-storm", "range+polite"}, {"kafka", "rebalance-storm", "range+rough"},
	{"kafka", "rebalance-storm", "sticky+polite"}, {"kafka", "rebalance-storm", "sticky+rough"},
	{"kafka", "rebalance-storm", "cooperative+polite"}, {"kafka", "rebalance-storm", "cooperative+rough"},
	{"kafka", "rebalance-storm", "static+polite"}, {"kafka", "rebalance-storm", "static+rough"},
	{"sqs", "crash-mid-batch", "after-batch"}, {"sqs", "slow-handler", "expires+plain"}, {"sqs", "poison-pill", "dead-letter"}, {"sqs", "steady", ""},
	{"sqs", "lease-herd", "killed"}, {"sqs", "lease-herd", "frozen"},
	{"rabbitmq", "crash-mid-batch", "after-batch"}, {"rabbitmq", "slow-handler", "expires+plain"}, {"rabbitmq", "poison-pill", "dead-letter"}, {"rabbitmq", "steady", ""},
	{"rabbitmq", "channel-closes", "after-handler"}, {"rabbitmq", "channel-closes", "after-batch"},
	{"rabbitmq-classic", "channel-closes", "after-handler"}, {"rabbitmq-classic", "channel-closes", "after-batch"},
}

// TestModelsForeseeTheirBrokers: a thousand seeds of each model, three repeats on its broker. A
// count that is outside in each of them is a finding: model, client or broker is wrong.
func TestModelsForeseeTheirBrokers(t *testing.T) {
	testenv.Soak(t, "an hour or more of seeds")
	for _, c := range foreseen {
		t.Run(c.engine+" "+c.workload+" "+c.variant, func(t *testing.T) {
			r, notRun := foresee(t, c.engine, c.workload, c.variant)
			if notRun != "" {
				t.Log("not run: " + notRun)
				return
			}
			p := r.Prediction
			if p == nil || p.Missing != "" || p.Repeats != 3 || p.Seeds < 900 {
				t.Fatalf("no prediction of three repeats by a thousand seeds: %+v", p)
			}
			findings, notes := p.Outside()
			for _, f := range findings {
				t.Errorf("%s measured %d, the model gives %d to %d, in three repeats", f.Name, f.Measured, f.Min, f.Max)
			}
			for _, n := range notes {
				t.Logf("note: %s measured %d, the model gives %d to %d", n.Name, n.Measured, n.Min, n.Max)
			}
		})
	}
}

// foresee predicts three repeats of a variant and returns the last, or why it was not run: not
// every broker can have every workload.
func foresee(t *testing.T, engine, workload, variant string) (r *checkers.Result, notRun string) {
	t.Helper()
	soak := Soak{Times: 3, Request: predictedOn(t, workload, variant, engine, NewPredicting(1000))}
	soak.Worker = []string{os.Args[0], asWorker}
	results, err := soak.Run(context.Background())
	switch {
	case err != nil:
		t.Fatal(err)
	case len(results.Runs) > 0:
		return &results.Runs[len(results.Runs)-1], ""
	case len(results.NotRun) > 0:
		return nil, results.NotRun[0].Reason
	default:
		t.Fatal("nothing was run")
	}
	return nil, ""
}
