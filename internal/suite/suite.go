// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/internal/catalog"
	"github.com/seed-720a3c77/harness/runner"
)

// ErrFailed: the harness or a broker failed, as opposed to a guarantee.
var ErrFailed = errors.New("the run failed")

// ResultsFile is the name of the results in a suite's directory.
const ResultsFile = "results.json"

// Run runs every cell and writes results.json. The error says what failed; the results
// hold what was judged all the same.
func Run(ctx context.Context, r Request) (checkers.Results, error) {
	results := checkers.Results{Schema: checkers.Schema, Tool: r.Tool, Command: r.Command, Started: time.Now().UTC()}
	if err := create(r.Out); err != nil {
		return results, err
	}
	s := suite{Request: r, open: map[string]opened{}}
	var failed error
	for _, c := range r.cells() {
		result, not, err := s.cell(ctx, c)
		failed = errors.Join(failed, err)
		if result != nil {
			results.Runs = append(results.Runs, *result)
		}
		if not != nil {
			results.NotRun = append(results.NotRun, *not)
		}
	}
	failed = errors.Join(failed, s.close(ctx))
	if err := Write(filepath.Join(r.Out, ResultsFile), &results); err != nil {
		failed = errors.Join(failed, err)
	}
	return results, failed
}

// create makes the directory of the suite, and finds out now if it cannot be written.
func create(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	return nil
}

// suite is a request under way.
type suite struct {
	Request
	open map[string]opened
}

type opened struct {
	catalog.Connection
	err error
}

// cell runs one cell. A NotRun is returned where there is no result.
func (s *suite) cell(ctx context.Context, c Cell) (*checkers.Result, *checkers.NotRun, error) {
	result, err := s.judged(ctx, c)
	var not *checkers.NotRun
	var inapplicable *runner.NotApplicable
	switch {
	case errors.As(err, &inapplicable):
		not, err = c.notRun(contract.NotApplicable, inapplicable.Reason), nil
	case errors.Is(err, errStopped):
		not, err = c.notRun(contract.Inconclusive, errStopped.Error()), nil
	case err != nil:
		err = fmt.Errorf("%w: %s: %w", ErrFailed, c.Name(), err)
		if result == nil {
			not = c.notRun(contract.Inconclusive, err.Error())
		}
		if again := (toldBefore{}); errors.As(err, &again) {
			err = nil
		}
	}
	if s.Watch != nil {
		s.Watch.End(c, result, not)
	}
	return result, not, err
}

// toldBefore is why an engine could not be opened, of its second cell and all after it: the
// first has said so.
type toldBefore struct{ error }

func (t toldBefore) Unwrap() error { return t.error }

var errStopped = errors.New("interrupted before it began")

func (c Cell) notRun(v contract.Verdict, why string) *checkers.NotRun {
	return &checkers.NotRun{Workload: c.Document.Name, Variant: c.Variant, Engine: c.Engine.Name, Verdict: v, Reason: why}
}

func (s *suite) judged(ctx context.Context, c Cell) (*checkers.Result, error) {
	if s.Stop != nil && s.Stop.Load() {
		return nil, errStopped
	}
	spec, err := c.Document.Spec(c.Variant)
	if err != nil {
		return nil, err
	}
	if c.Engine.Open == nil {
		return s.virtual(c, spec)
	}
	result, err := s.real(ctx, c, spec)
	if err != nil {
		return result, err
	}
	return result, s.predicted(ctx, c, result)
}

// connection opens a real engine once.
func (s *suite) connection(ctx context.Context, e catalog.Engine) (catalog.Connection, error) {
	if known, ok := s.open[e.Name]; ok {
		return known.Connection, known.err
	}
	conn, err := s.Connect(ctx, e)
	s.open[e.Name] = opened{Connection: conn}
	if err != nil {
		s.open[e.Name] = opened{err: toldBefore{err}}
	}
	return conn, err
}

func (s *suite) close(ctx context.Context) error {
	var failed error
	for name, o := range s.open {
		if o.err != nil {
			continue
		}
		if err := closeEngine(ctx, o.Engine); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%w: close %s: %w", ErrFailed, name, err))
		}
	}
	return failed
}

// closePatience bounds the polite end of an engine's connections.
const closePatience = 30 * time.Second

func closeEngine(ctx context.Context, e broker.Engine) error {
	ctx, cancel := context.WithTimeout(ctx, closePatience)
	defer cancel()
	return e.Close(ctx)
}

// Write writes results so that a reader never sees half of them.
func Write(path string, results *checkers.Results) error {
	if err := writeJSON(path, results); err != nil {
		return fmt.Errorf("results: %w", err)
	}
	return nil
}

// writeJSON replaces a file at once or not at all.
func writeJSON(path string, content any) error {
	text, err := json.MarshalIndent(content, "", "\t")
	if err != nil {
		return err
	}
	partial := path + ".partial"
	if err := os.WriteFile(partial, append(text, '\n'), 0o644); err != nil {
		_ = os.Remove(partial) // perhaps it was never there
		return err
	}
	return os.Rename(partial, path)
}
