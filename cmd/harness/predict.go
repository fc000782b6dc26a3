// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/internal/suite"
)

// predictFlags say whether the model of a broker is asked what it expects of a run.
type predictFlags struct {
	on, strict bool
	seeds      int
}

func (f *predictFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.on, "predict", false, "put beside each count of a run on a broker what the broker's model gives, under the run's own load and fault times")
	cmd.Flags().IntVar(&f.seeds, "predict-seeds", 1000, "how many seeds a prediction is made of")
	cmd.Flags().BoolVar(&f.strict, "predict-strict", false, "exit 1 on a finding: a count outside of the prediction in three repeats in a row")
}

// predicting is nil where nobody asked.
func (f *predictFlags) predicting() (*suite.Predicting, error) {
	if f.seeds < 1 {
		return nil, errors.New("predict-seeds count from 1")
	}
	if !f.on && !f.strict {
		return nil, nil
	}
	return suite.NewPredicting(f.seeds), nil
}

// judged is the exit of results. A finding of the prediction violates no claim: it says that
// model, client or broker is wrong, and counts only where it is asked to.
func (f *predictFlags) judged(results *checkers.Results) error {
	if err := judged(results); err != nil || !f.strict {
		return err
	}
	for i := range results.Runs {
		p := results.Runs[i].Prediction
		if p == nil {
			continue
		}
		if findings, _ := p.Outside(); len(findings) > 0 {
			return &exit{code: exitViolated, quiet: true}
		}
	}
	return nil
}
