// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/contract/profiles"
	"github.com/seed-720a3c77/harness/faults"
	"github.com/seed-720a3c77/harness/workloads"
)

const repeated = `name: repeated
about: Everything that can be measured.
topology: {orders: {}}
produce: [{to: orders, count: 5, rate: 100/s, start: 1s}]
consume: [{from: orders, group: billing, settle: {when: after-batch}}]
timeline:
  - {at: 1s, do: freeze, target: billing, for: 2s}
  - {at: {worker: billing, point: mid-batch, n: 2}, do: kill, target: billing}
  - {after: 1s, do: start, target: billing}
  - {at: 9s, do: kill, target: billing}
claims: at-least-once
`

// TestPlanRepeatsWhatWasMeasured: times are those of the run, points keep their trigger and
// come no earlier than the batch that reached them, and what never came is gone.
func TestPlanRepeatsWhatWasMeasured(t *testing.T) {
	doc, err := workloads.Parse("repeated.yaml", []byte(repeated))
	if err != nil {
		t.Fatal(err)
	}
	spec, err := doc.Spec("")
	if err != nil {
		t.Fatal(err)
	}
	profile, err := profiles.Named("sqs")
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(spec, profile, Where{Virtual: true, Scale: 0.5, Faults: []faults.Kind{faults.Freeze(), faults.Thaw(), faults.Kill(), faults.Start()}})
	if err != nil {
		t.Fatal(err)
	}
	sent := []time.Duration{3 * time.Millisecond, 14 * time.Millisecond}
	p.As(Measured{Sent: [][]time.Duration{sent}, Faults: []MeasuredFault{
		{Requested: 1100 * time.Millisecond, Healed: 3500 * time.Millisecond},
		{Requested: 2 * time.Second, Healed: 4 * time.Second, Since: 1900 * time.Millisecond},
		{Requested: Never, Healed: Never},
	}})
	made := &p.Producers[0]
	if made.Count != 2 || made.Start != 0 || made.schedule().At(1) != sent[1] {
		t.Errorf("%d messages, the second at %s, from %s on; want 2, %s and 0", made.Count, made.schedule().At(1), made.Start.Std(), sent[1])
	}
	if p.Scale != 0.5 || len(p.Chains) != 2 {
		t.Fatalf("scale %g, %d chains; want 0.5 and 2: the third never came", p.Scale, len(p.Chains))
	}
	freeze, kill, start := p.Chains[0][0], p.Chains[1][0], p.Chains[1][1]
	if freeze.trigger.at != 1100*time.Millisecond || freeze.lasts != 2400*time.Millisecond {
		t.Errorf("frozen at %s for %s; want 1.1s and 2.4s", freeze.trigger.at, freeze.lasts)
	}
	if kill.trigger.point != "mid-batch" || kill.trigger.at != 1900*time.Millisecond {
		t.Errorf("killed at %q from %s on; want mid-batch and 1.9s", kill.trigger.point, kill.trigger.at)
	}
	if start.trigger.at != 4*time.Second {
		t.Errorf("started at %s, want 4s: when the kill was healed", start.trigger.at)
	}
}
