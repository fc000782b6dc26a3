// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// KindResult counts how the cases of one kind were judged.
type KindResult struct {
	Kind                     string
	Matched, Deviates, Wrong int
}

// CaseResult is a case that did not match.
type CaseResult struct {
	ID, Kind string
	// Text says what of the expectation is not met; Reason is why that is on purpose, ""
	// where it is wrong.
	Text, Reason string
	// Bad is the line of a case that is not of the form of its kind, 0 for any other.
	Bad int
}

// RunCases judges cases, and counts them by kind in the order of the kinds.
func RunCases(cases []Case) ([]KindResult, []CaseResult) {
	results := make([]CaseResult, len(cases))
	parallel(len(cases), func(i int) {
		c := &cases[i]
		text, err := c.Judge(Rules{})
		results[i] = CaseResult{ID: c.ID, Kind: c.Kind, Text: text}
		if err != nil {
			results[i].Text, results[i].Bad = err.Error(), c.line
		}
	})
	return count(results)
}

func count(results []CaseResult) ([]KindResult, []CaseResult) {
	by := map[string]*KindResult{}
	var apart []CaseResult
	for _, c := range results {
		k := by[c.Kind]
		if k == nil {
			k = &KindResult{Kind: c.Kind}
			by[c.Kind] = k
		}
		d, known := deviation(c.ID)
		switch {
		case c.Text == "":
			k.Matched++
			continue
		case known:
			k.Deviates++
		default:
			k.Wrong++
		}
		c.Reason = d.Reason
		apart = append(apart, c)
	}
	return inOrder(by), apart
}

// inOrder lists the kinds as they are listed, then those that nobody knows.
func inOrder(by map[string]*KindResult) (all []KindResult) {
	for _, name := range kindNames() {
		if k := by[name]; k != nil {
			all = append(all, *k)
			delete(by, name)
		}
	}
	for _, name := range sortedNames(by) {
		all = append(all, *by[name])
	}
	return all
}

// PlantedResult is a row of the table of planted defects; Err is nil where exactly what is
// meant to be found was found.
type PlantedResult struct {
	Planted
	Err error
}

// RunPlanted checks every planted defect, and what an honest broker's clients do.
func RunPlanted() []PlantedResult {
	all := append(Bugs(), Honest()...)
	results := make([]PlantedResult, len(all))
	parallel(len(all), func(i int) { results[i] = PlantedResult{all[i], all[i].Check(Rules{})} })
	return results
}

// parallel calls do with every number below n, on all processors.
func parallel(n int, do func(int)) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				do(int(i))
			}
		})
	}
	workers.Wait()
}
