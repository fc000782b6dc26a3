// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/internal/suite"
	"github.com/seed-720a3c77/harness/reports"
)

func checkVerb() *cobra.Command {
	var asJSON, quick bool
	var predict predictFlags
	cmd := &cobra.Command{
		Use:   "check RUN",
		Short: "judge a saved history again: a run's directory, or a suite's",
		Args:  exactly(1, "one directory: of a run (with manifest.json) or of a suite"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if quick {
				return glance(cmd.OutOrStdout(), args[0])
			}
			predicting, err := predict.predicting()
			if err != nil {
				return usage(err)
			}
			results, err := recheck(cmd.Context(), args[0], predicting)
			if err != nil {
				return err
			}
			write := reports.Text
			if asJSON {
				write = reports.JSON
			}
			if err := write(cmd.OutOrStdout(), results); err != nil {
				return err
			}
			return predict.judged(results)
		},
	}
	predict.register(cmd)
	cmd.Flags().BoolVar(&quick, "quick", false, "only count what was acked and not done, and what was done again; much faster, no verdict")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the results as JSON")
	return cmd
}

// recheck judges every run under a directory from its history alone, and predicts it anew
// where predicting is not nil.
func recheck(ctx context.Context, dir string, predicting *suite.Predicting) (*checkers.Results, error) {
	dirs, err := runDirs(dir)
	if err != nil {
		return nil, usage(err)
	}
	results := &checkers.Results{Schema: checkers.Schema, Tool: version(), Started: time.Now().UTC()}
	for _, d := range dirs {
		result, err := suite.Judge(d)
		if err != nil {
			return nil, err
		}
		result.Dir = filepath.Base(d)
		if predicting != nil && result.Fidelity == "real" {
			if err := predicting.Predict(ctx, d, result); err != nil {
				return nil, err
			}
		}
		results.Runs = append(results.Runs, *result)
	}
	return results, nil
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
