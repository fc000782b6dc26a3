// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/explore"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/inmem/drive"
	"github.com/seed-720a3c77/harness/internal/catalog"
	"github.com/seed-720a3c77/harness/internal/regular"
	"github.com/seed-720a3c77/harness/runner"
)

// PredictionFile keeps the prediction of a run in its directory.
const PredictionFile = "prediction.json"

// maxPrediction bounds what is read back of it, in bytes.
const maxPrediction = 16 << 20

// ErrPrediction: what a run's directory keeps as its prediction cannot be read.
var ErrPrediction = errors.New("the kept prediction is unreadable")

// Predicting has the model of a broker run again what was run on the broker. It remembers
// the repeats of a run, and is for one suite after another.
type Predicting struct {
	explore.Foresight
	// last is the prediction of the repeat before, by the name of the run.
	last map[string]*checkers.Prediction
}

// NewPredicting predicts by so many seeds; 0 is the usual number.
func NewPredicting(seeds int) *Predicting {
	return &Predicting{
		Foresight: explore.Foresight{Seeds: seeds, Faults: catalog.Faults(), Links: ModelLinks},
		last:      map[string]*checkers.Prediction{},
	}
}

// ModelLinks are the ways of a plan's clients to the in-memory engine.
func ModelLinks(e *drive.Engine, plan *runner.Plan) runner.Links {
	return catalog.ModelLinks{Engine: e, Clients: clients(plan)}
}

// Predict puts the prediction of a run beside its result and keeps it in the run's directory.
func (p *Predicting) Predict(ctx context.Context, dir string, result *checkers.Result) error {
	run, err := history.Open(dir)
	if err != nil {
		return err
	}
	made, err := p.Foresight.Predict(ctx, run, result)
	if err != nil {
		return err
	}
	if before := p.last[result.Run]; before != nil {
		made.After(before)
	}
	p.last[result.Run], result.Prediction = &made, &made
	if err := writeJSON(filepath.Join(dir, PredictionFile), &made); err != nil {
		return fmt.Errorf("prediction: %w", err)
	}
	return nil
}

// predicted gives the result of a run on a broker its prediction, where it was asked for.
func (s *suite) predicted(ctx context.Context, c Cell, result *checkers.Result) error {
	if s.Request.Predict == nil || result == nil || result.Trust.Interrupted {
		return nil
	}
	return s.Request.Predict.Predict(ctx, s.dir(c), result)
}

// attach puts the prediction that a run's directory keeps beside the result of its history.
func attach(dir string, result *checkers.Result) error {
	path := filepath.Join(dir, PredictionFile)
	text, err := regular.Read(path, maxPrediction)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrPrediction, err)
	}
	kept := new(checkers.Prediction)
	if err := json.Unmarshal(text, kept); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrPrediction, path, err)
	}
	if kept.Model == "" {
		return fmt.Errorf("%w: %s names no model", ErrPrediction, path)
	}
	kept.Measure(explore.Outcomes(result))
	result.Prediction = kept
	return nil
}
