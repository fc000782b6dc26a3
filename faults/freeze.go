// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
)

// Freeze stops a worker where it stands, as SIGSTOP or a long pause of its runtime does:
// its heartbeats stop too, so that its lease or session runs out while it believes to
// hold it. Thaw heals it, and so does the end of the run.
func Freeze() Kind {
	return Kind{
		Name:   "freeze",
		Doc:    "stops a worker where it stands, heartbeats included; thaw heals it",
		Unable: needsProcess,
		New: func(target string, decode func(any) error) (Fault, error) {
			return freeze{target}, decode(&struct{}{})
		},
	}
}

// needsProcess: the heartbeats of a client library run in goroutines of their own, which
// nothing inside the process can stop.
func needsProcess(p Place) string {
	if p.Virtual || p.Process {
		return ""
	}
	return "a goroutine cannot be frozen together with its client's heartbeats; use run-in: process"
}

type freeze struct{ target string }

func (f freeze) Inject(ctx context.Context, at Targets) (Heal, error) {
	worker, err := at.Process(f.target)
	if err != nil {
		return nil, err
	}
	if err := worker.Freeze(ctx); err != nil {
		return worker.Thaw, fmt.Errorf("freeze %s: %w", f.target, err)
	}
	return worker.Thaw, nil
}

// Thaw lets a frozen worker go on; it does not know that time has passed.
func Thaw() Kind {
	return Kind{
		Name:    "thaw",
		Doc:     "lets a frozen worker go on",
		Repairs: []string{"freeze"},
		Unable:  needsProcess,
		New: func(target string, decode func(any) error) (Fault, error) {
			return repair{target, Process.Thaw}, decode(&struct{}{})
		},
	}
}

// repair is a step that undoes another.
type repair struct {
	target string
	do     func(Process, context.Context) error
}

func (r repair) Inject(ctx context.Context, at Targets) (Heal, error) {
	worker, err := at.Process(r.target)
	if err != nil {
		return nil, err
	}
	return nil, r.do(worker, ctx)
}
