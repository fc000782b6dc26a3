// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"strings"
	"sync/atomic"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/internal/catalog"
	"github.com/seed-720a3c77/harness/runner"
	"github.com/seed-720a3c77/harness/workloads"
)

// Request is what to run.
type Request struct {
	Workloads []*workloads.Document
	// Variants restricts to those that contain every one of these parts; empty is all.
	Variants []string
	Engines  []catalog.Engine
	// Out is the directory of the suite; it must not exist yet.
	Out string
	// Seed of virtual runs; 0 takes the workload's own, or 1.
	Seed uint64
	// Tool and Command go into the results: version, and the words that repeat the run.
	Tool, Command string
	// Connect opens a real engine; it is asked once an engine.
	Connect func(ctx context.Context, e catalog.Engine) (catalog.Connection, error)
	// Worker is the command of a worker process; where there is none, run-in: process is
	// not applicable. Guard ends such processes if this one cannot; nil is nobody.
	Worker []string
	Guard  Guard
	// Undo has destinations removed from a broker if this process cannot; done is called when
	// they are. nil is nobody.
	Undo func(engine, address string, names []string) (done func(), err error)
	// Predict, if not nil, has the model of each broker say what it expects of the run.
	Predict *Predicting
	// Stop, once true, ends the run under way politely and begins no other.
	Stop *atomic.Bool
	// Watch hears of every cell; it must not wait. nil hears nothing.
	Watch Watch
}

// Watch hears how a suite goes. Calls come one at a time.
type Watch interface {
	// Begin: a cell starts; its counters may be read until End.
	Begin(c Cell, p *runner.Progress)
	// End: it is judged, or could not be run.
	End(c Cell, result *checkers.Result, not *checkers.NotRun)
}

// Cell is one run of the matrix.
type Cell struct {
	Document *workloads.Document
	Variant  string
	Engine   catalog.Engine
	// Number counts from 1, of Of.
	Number, Of int
}

// Name is the cell's directory: workload, variant and engine.
func (c Cell) Name() string {
	parts := []string{c.Document.Name, c.Variant, c.Engine.Name}
	name := strings.Join(parts, ".")
	if c.Variant == "" {
		name = parts[0] + "." + parts[2]
	}
	return strings.Map(plain, name)
}

// plain keeps what every file system takes.
func plain(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '-', r == '+', r == '_':
		return r
	}
	return '-'
}

// cells lists the matrix, row by row.
func (r *Request) cells() []Cell {
	var all []Cell
	for _, doc := range r.Workloads {
		for _, variant := range doc.Variants() {
			if !r.wants(variant) {
				continue
			}
			for _, e := range r.Engines {
				all = append(all, Cell{Document: doc, Variant: variant, Engine: e})
			}
		}
	}
	for i := range all {
		all[i].Number, all[i].Of = i+1, len(all)
	}
	return all
}

func (r *Request) wants(variant string) bool {
	parts := strings.Split(variant, "+")
	for _, want := range r.Variants {
		found := false
		for _, part := range parts {
			found = found || part == want
		}
		if !found {
			return false
		}
	}
	return true
}
