// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

// Check is the verdict of a recorded run. It is a pure function of the record: the run
// itself and a later re-check give the same result.
func Check(run *history.Run) (Result, error) { return CheckWith(run, Terms{}) }

// Terms change how a run is judged. The zero value is the verdict of Check.
type Terms struct {
	// Without names rules that are taken away: rows and claims. It is for tests of the
	// tests: whatever is taken away, something must be missed.
	Without []string
	// Examples is how many findings of a row keep their evidence; 0 is 32.
	Examples int
}

// CheckWith is Check on other terms.
func CheckWith(run *history.Run, terms Terms) (Result, error) {
	j := newJudge(&run.Header, run.Name, allFor(run), new(memory))
	j.c.facts.terms = terms
	result, err := j.judge(run)
	if err != nil {
		return Result{}, err
	}
	if err := tellLives(&result, run); err != nil {
		return Result{}, fmt.Errorf("check %s: %w", run.Header.Run, err)
	}
	return result, nil
}

// allFor are the checkers that a whole run can be given to.
func allFor(run *history.Run) []Checker {
	all := All()
	if run.Header.Profile.Model == contract.Log && run.Integrity.Events <= maxExact {
		all = slices.Insert(all, 0, Checker(&exactLog{})) // others need what it counts
	}
	return all
}

// judge reads a whole run.
func (j *Judge) judge(run *history.Run) (Result, error) {
	if err := run.EachBatch(history.AllKinds, fieldsOfChecks, j.batch); err != nil {
		return Result{}, fmt.Errorf("check %s: %w", run.Header.Run, err)
	}
	j.complete = run.Integrity.Complete() && !run.Header.Unfinished
	return j.Finish(), nil
}

// Judge is a check that is fed event by event, in the order of the merged history. One
// goroutine owns it.
type Judge struct {
	c        *Case
	checkers []Checker
	byKind   [history.Kinds][]Checker
	moment   Moment
	ties     *ties
	one      [1]*history.Event
	complete bool
}

func newJudge(h *history.Header, names Names, all []Checker, memory *memory) *Judge {
	memory.begin()
	j := &Judge{c: newCase(h, names, memory), checkers: all, ties: &memory.ties, complete: true}
	wanted := make([]history.KindSet, 0, 32)
	for _, checker := range all {
		checker.Begin(j.c)
		wanted = append(wanted, checker.Kinds())
	}
	j.sort(wanted, memory.byKind[:0])
	return j
}

// sort lists the checkers that want a kind, all lists in one piece of memory.
func (j *Judge) sort(wanted []history.KindSet, lists []Checker) {
	for k := range history.Kinds {
		first := len(lists)
		for i, checker := range j.checkers {
			if wanted[i].Has(k) {
				lists = append(lists, checker)
			}
		}
		j.byKind[k] = lists[first:len(lists):len(lists)]
	}
	j.c.memory.byKind = lists
}

// Observe takes the next event, which may be changed or used again afterwards.
func (j *Judge) Observe(e *history.Event) {
	j.one[0] = e
	j.batch(j.one[:])
}

// fieldsOfChecks are those of an event that any checker looks at.
const fieldsOfChecks = history.AllFields &^ history.FieldCRC

// observe lets every checker see an event, then brings the case up to date.
func (j *Judge) observe(e *history.Event, index int64) {
	j.c.index, j.c.now = index, e.T
	if e.Kind == history.PublishAccepted && len(j.byKind[e.Kind]) == 0 {
		return // it takes no message anywhere
	}
	j.c.join(&j.moment, e)
	if e.Kind < history.Kinds {
		for _, checker := range j.byKind[e.Kind] {
			checker.Observe(&j.moment)
		}
	}
	j.c.apply(&j.moment)
	if j.moment.session != nil {
		j.moment.session.last = e.T
	}
	if j.moment.known {
		j.c.close(j.moment.edit)
	}
}

// Finish is the verdict. The Judge must not be used afterwards.
func (j *Judge) Finish() Result {
	j.release()
	result := describe(j.c.header)
	j.c.ends.incomplete = !j.complete || j.c.ends.dropped > 0
	f := j.c.facts
	f.result = &result
	for _, checker := range j.checkers {
		checker.Finish(f)
	}
	result.Trust.Events = j.ties.seen
	result.Trust.HistoryComplete = !j.c.ends.incomplete
	result.Counts = f.all()
	result.Anomalies = f.anomalies()
	judge(f, &result)
	return result
}

// unnamed is the engine of a run that does not name its own, such as one of another tool.
const unnamed = "engine unknown"

// describe copies what a report needs of the manifest.
func describe(h *history.Header) Result {
	return Result{
		Run: h.Run, Workload: cmp.Or(h.Workload, h.Run), Variant: h.Variant, About: h.About, Engine: cmp.Or(h.Engine, unnamed), Provider: h.Provider,
		Profile: h.Profile, Fidelity: h.Fidelity, Seed: h.Seed, Settings: h.Settings, Versions: h.Versions,
		Host: h.Host, Started: h.Started, Spec: h.Spec, Command: h.Command,
		Phases: []Span{}, Ledger: []Balance{},
	}
}
