// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/internal/suite"
	"github.com/seed-720a3c77/harness/reports"
)

type checkFlags struct {
	json, quick bool
	predict     predictFlags
}

func checkVerb() *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check RUN",
		Short: "judge a saved history again: a run's directory, or a suite's",
		Args:  exactly(1, "one directory: of a run (with manifest.json) or of a suite"),
		RunE:  func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	f.predict.register(cmd)
	cmd.Flags().BoolVar(&f.quick, "quick", false, "only count what was acked and not done, and what was done again; much faster, no verdict")
	cmd.Flags().BoolVar(&f.json, "json", false, "print the results as JSON")
	return cmd
}

func (f *checkFlags) run(cmd *cobra.Command, dir string) error {
	if err := f.idle(cmd); err != nil {
		return usage(err)
	}
	dirs, err := runDirs(dir)
	if err != nil {
		return usage(err)
	}
	if f.quick {
		return glance(cmd.OutOrStdout(), dir, dirs)
	}
	predicting, err := f.predict.predicting()
	if err != nil {
		return usage(err)
	}
	r := recheck{predicting: predicting, say: func(line string) { fmt.Fprintln(cmd.ErrOrStderr(), "harness: "+line) }}
	results, failed := r.all(cmd.Context(), dirs)
	if len(results.Runs) == 0 {
		return failed
	}
	write := reports.Text
	if f.json {
		write = reports.JSON
	}
	if err := errors.Join(failed, write(cmd.OutOrStdout(), results)); err != nil {
		return err
	}
	return f.predict.judged(results)
}

// idle refuses flags that would do nothing.
func (f *checkFlags) idle(cmd *cobra.Command) error {
	if f.quick {
		if given := firstGiven(cmd, "json", "predict", "predict-strict", "predict-seeds"); given != "" {
			return fmt.Errorf("--quick gives no results, so that --%s has nothing to do", given)
		}
	}
	return f.predict.idle(cmd)
}

// recheck judges saved histories again.
type recheck struct {
	predicting *suite.Predicting // nil where nobody asked
	say        func(line string)
}

// all judges every run from its history alone. One that cannot be read hides no other: the
// error is of those, the results of the rest.
func (r *recheck) all(ctx context.Context, dirs []string) (*checkers.Results, error) {
	results := &checkers.Results{Schema: checkers.Schema, Tool: version(), Started: time.Now().UTC()}
	var failed error
	predicted := 0
	for _, dir := range dirs {
		result, err := r.one(dir)
		if err == nil && r.predicting != nil && result.Fidelity == "real" {
			predicted++
			err = r.predicting.Predict(ctx, dir, result)
		}
		if failed = errors.Join(failed, err); result != nil {
			results.Runs = append(results.Runs, *result)
		}
	}
	if r.predicting != nil && predicted == 0 && failed == nil {
		r.say("--predict: none of these ran on a broker, so that there is nothing to put beside a model")
	}
	return results, failed
}

// one judges one. What it kept as its prediction is no part of its history.
func (r *recheck) one(dir string) (*checkers.Result, error) {
	result, err := suite.Judge(dir)
	if errors.Is(err, suite.ErrPrediction) {
		r.say(oneLine(err))
		err = nil
	}
	if result != nil {
		result.Dir = filepath.Base(dir)
	}
	return result, err
}

const manifest = "manifest.json"

// runDirs is the directory itself if it is a run, or the runs in it.
func runDirs(dir string) ([]string, error) {
	if _, err := os.Stat(filepath.Join(dir, manifest)); err == nil {
		return []string{dir}, nil
	}
	found, err := filepath.Glob(filepath.Join(dir, "*", manifest))
	if err != nil || len(found) == 0 {
		return nil, fmt.Errorf("%s holds no run: want a directory with %s in it or one level below", dir, manifest)
	}
	for i := range found {
		found[i] = filepath.Dir(found[i])
	}
	return found, nil
}
