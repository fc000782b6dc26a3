// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"context"
	"slices"
	"testing"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/contract/profiles"
	"github.com/seed-720a3c77/harness/inmem"
	"github.com/seed-720a3c77/harness/inmem/drive"
)

// reference puts the reference engine on a bench of virtual time. said, if given, is
// what it pretends to be.
func reference(t *testing.T, p contract.Profile, said *contract.Profile, bugs ...inmem.Bug) *Bench {
	t.Helper()
	v := clock.NewVirtual(7)
	t.Cleanup(v.Close)
	var e broker.Engine = drive.New(v, p, drive.Options{Bugs: bugs})
	if said != nil {
		e = pretender{e, *said}
	}
	return &Bench{
		Engine: e, Sleep: v.Sleep, Now: v.Now, Prefix: "t-",
		Run: func(body func(context.Context)) {
			if err := v.Run("case", body); err != nil {
				t.Error(err)
			}
		},
	}
}

type pretender struct {
	broker.Engine
	said contract.Profile
}

func (p pretender) Profile() contract.Profile { return p.said }

// unfindable tells the pairs of bug and profile at which no conformance case can fail.
func unfindable(bug inmem.BugName, p contract.Profile) bool {
	switch bug {
	case inmem.RetryStored:
		return true // needs an answer lost on its way
	case inmem.TwoActive, inmem.DeliverExpired:
		return true // needs an argument of the queue that no case declares
	case inmem.SwapReady:
		return p.Order == contract.OrderNone
	case inmem.StaleAccepted:
		return p.Stale == contract.StaleApplies
	case inmem.DeadLetterEarly, inmem.DeadLetterLate:
		return !p.Can.Has(contract.DeadLetter)
	case inmem.GroupNotBlocked:
		return !p.Can.Has(contract.FIFOGroups)
	case inmem.DedupForgotten, inmem.DedupSwallows:
		return !p.Can.Has(contract.Deduplication)
	}
	return false
}

// TestPlantedBugsAreFound breaks the reference engine in every way it can be broken, and
// wants some case to fail exactly where one can.
func TestPlantedBugsAreFound(t *testing.T) {
	for _, bug := range inmem.Bugs() {
		for _, p := range profiles.All() {
			if !slices.Contains(bug.Models, p.Model) {
				continue
			}
			t.Run(string(bug.Name)+" "+p.Name, func(t *testing.T) {
				failed := failingReference(t, p, bug.Name)
				if found := len(failed) > 0; found == unfindable(bug.Name, p) {
					t.Errorf("%s: failing cases: %q", bug.About, failed)
				}
			})
		}
	}
}

// failingReference are the cases that fail with a bug. It strikes a few times only:
// some would fill the machine's memory otherwise.
func failingReference(t *testing.T, p contract.Profile, bug inmem.BugName) (failed []string) {
	for _, c := range cases() {
		r := &capture{}
		check(r, reference(t, p, nil, inmem.Bug{Name: bug, Limit: 5}), c.body)
		if len(r.failures) > 0 {
			failed = append(failed, c.name)
		}
	}
	return failed
}

// TestReferenceCannotLie turns one capability of each profile over.
func TestReferenceCannotLie(t *testing.T) {
	for _, p := range profiles.All() {
		for c := range contract.AllCapabilities() {
			said := p
			said.Can ^= contract.Can(c)
			t.Run(p.Name+" "+c.String(), func(t *testing.T) {
				r := &capture{}
				check(r, reference(t, p, &said), capabilityCases()[c].named(c).body)
				if len(r.failures) == 0 {
					t.Errorf("the profile says %t, the engine does the opposite, and the case passes", said.Can.Has(c))
				}
			})
		}
	}
}
