// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"context"
	"testing"

	"github.com/seed-720a3c77/harness/contract"
)

// Run runs every case as a subtest, each on a bench of its own.
func Run(t *testing.T, open func(t *testing.T) *Bench) {
	for _, c := range cases() {
		t.Run(c.name, func(t *testing.T) {
			check(t, open(t), c.body)
		})
	}
}

// reporter is the part of testing.TB that cases need, so that the suite can be tested.
type reporter interface {
	Helper()
	Errorf(format string, args ...any)
	Logf(format string, args ...any)
}

// testCase is one rule.
type testCase struct {
	name string
	body func(*probe)
}

// cases are the basics and then one case for each capability.
func cases() []testCase {
	all := basics()
	table := capabilityCases()
	for capability := range contract.AllCapabilities() {
		all = append(all, table[capability].named(capability))
	}
	return all
}

// bothWays is the case of a capability: what must hold where it is declared, and what
// must be refused where it is not.
type bothWays struct {
	declared, undeclared func(*probe)
}

func (b bothWays) named(capability contract.Capability) testCase {
	return testCase{"capability/" + capability.String(), func(p *probe) {
		body := b.undeclared
		if p.can(capability) {
			body = b.declared
		}
		if body == nil {
			p.fatalf("brokertest has no case for capability %s", capability)
		}
		body(p)
	}}
}

// stop is what a fatal failure panics with: FailNow must not be called on the
// coroutines of a virtual clock.
type stop struct{}

// check runs one case on a bench and gives everything back that it opened.
func check(r reporter, bench *Bench, body func(*probe)) {
	r.Helper()
	b := bench.withDefaults()
	b.Run(func(ctx context.Context) {
		p := &probe{Bench: b, r: r, ctx: ctx, profile: b.Engine.Profile()}
		defer p.cleanUp()
		defer func() {
			if v := recover(); v != nil && v != (stop{}) {
				panic(v)
			}
		}()
		body(p)
	})
}
