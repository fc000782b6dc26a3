// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/contract"
)

// capture is a reporter that keeps failures.
type capture struct{ failures []string }

func (c *capture) Helper()             {}
func (c *capture) Logf(string, ...any) {}
func (c *capture) Errorf(format string, args ...any) {
	c.failures = append(c.failures, fmt.Sprintf(format, args...))
}

// failing runs every case on a new toy and returns what failed, by case.
func failing(p contract.Profile, broken string) map[string]string {
	failed := map[string]string{}
	for _, c := range cases() {
		r := &capture{}
		check(r, newToy(p, broken).bench(), c.body)
		if len(r.failures) > 0 {
			failed[c.name] = strings.Join(r.failures, "; ")
		}
	}
	return failed
}

func TestToysPass(t *testing.T) {
	for _, p := range []contract.Profile{leaseToy(), pushToy()} {
		t.Run(p.Name, func(t *testing.T) {
			Run(t, func(*testing.T) *Bench { return newToy(p, "").bench() })
		})
	}
}

func TestEveryCapabilityHasACase(t *testing.T) {
	table := capabilityCases()
	for c := range contract.AllCapabilities() {
		if table[c].declared == nil || table[c].undeclared == nil {
			t.Errorf("%v: a case for both ways is wanted", c)
		}
	}
}

// TestSuiteHasTeeth breaks one rule at a time and wants the case that owns it to fail.
func TestSuiteHasTeeth(t *testing.T) {
	lease, push := leaseToy(), pushToy()
	for _, c := range []struct {
		profile      contract.Profile
		broken, want string
	}{
		{lease, "reuses a left-over", "declare/left-over exists"},
		{lease, "declares half", "declare/all or nothing"},
		{lease, "loses the key", "round trip/identity"},
		{lease, "identity by body", "round trip/same bytes are two messages"},
		{lease, "takes foreign for own", "round trip/foreign run"},
		{lease, "completes twice", "publish/completes exactly once"},
		{lease, "close drops", "publish/close flushes"},
		{lease, "unproven is ok", "publish/unproven is not ok"},
		{lease, "returns from empty polls at once", "receive/empty poll"},
		{lease, "reverses the order", "order/as promised"},
		{lease, "leaves results unwritten", "settle/one result an entry"},
		{lease, "ack does nothing", "settle/done does not come back"},
		{push, "keeps the unsettled of the dead", "crash/unsettled come back"},
		{lease, "obeys stale handles", "crash/stale token"},
		{push, "survives stale tags", "crash/stale token"},
		{lease, "lives on after abandon", "crash/nothing after abandon"},
		{lease, "in flight is ready", "depth/follows the messages"},
		{push, "delivers once too often", "limit/as the profile says"},
		{lease, "ack takes all", "capability/acks"},
		{lease, "requeue drops", "capability/requeue"},
		{push, "requeues at the wrong end", "capability/requeue"},
		{lease, "requeues without the delay", "capability/requeue-delay"},
		{push, "multiple acks one", "capability/ack-multiple"},
		{lease, "ends leases early", "capability/lease"},
		{lease, "never ends leases", "capability/lease"},
		{lease, "extend does nothing", "capability/extend"},
		{lease, "never raises the count", "capability/delivery-count"},
		{push, "never raises the flag", "capability/redelivered-flag"},
		{lease, "delivers once too often", "capability/dead-letter"},
		{push, "drops dead letters", "capability/dead-letter"},
		{lease, "groups do not wait", "capability/fifo-groups"},
		{push, "acks and forgets", "capability/confirms"},
		{push, "returned is acked", "capability/returns"},
		{push, "ignores the window", "capability/prefetch"},
		{push, "forgets a bound queue", "capability/fan-out"},
		{lease, "stores copies", "capability/deduplication"},
		{lease, "swallows settle errors", "capability/batch-entries"},
		{lease, "ignores the delay", "capability/delay"},
		{lease, "purge does nothing", "capability/purge"},
	} {
		t.Run(c.profile.Name+" "+c.broken, func(t *testing.T) {
			if failed := failing(c.profile, c.broken); failed[c.want] == "" {
				t.Errorf("%q does not fail; failing are %v", c.want, failed)
			}
		})
	}
}

// TestProfilesCannotLie: a capability that is declared and missing fails, and so does
// one that is there and not declared.
func TestProfilesCannotLie(t *testing.T) {
	for _, p := range []contract.Profile{leaseToy(), pushToy()} {
		for c := range contract.AllCapabilities() {
			body := capabilityCases()[c].named(c).body
			t.Run(p.Name+" "+c.String(), func(t *testing.T) {
				r := &capture{}
				check(r, lying(p, c).bench(), body)
				if len(r.failures) == 0 {
					t.Errorf("%v: profile says %t, engine does the opposite, and the case passes", c, !p.Can.Has(c))
				}
			})
		}
	}
}

// lying is a toy that behaves as p and says the opposite of one capability.
func lying(p contract.Profile, c contract.Capability) *liar {
	said := p
	said.Can ^= contract.Can(c)
	return &liar{newToy(p, ""), said}
}

type liar struct {
	*toy
	said contract.Profile
}

func (l *liar) Profile() contract.Profile { return l.said }

func (l *liar) bench() *Bench {
	b := l.toy.bench()
	b.Engine = l
	return b
}
