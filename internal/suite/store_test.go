// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/seed-720a3c77/harness/internal/catalog"
	"github.com/seed-720a3c77/harness/workloads"
)

// TestStoreOnDiskGivesTheSameLedger: where effects land does not change what is counted.
func TestStoreOnDiskGivesTheSameLedger(t *testing.T) {
	source := `name: stores
about: A crash with effects in different stores.
variants:
  store: [memory, sqlite]
  mode: [plain, upsert, claim, transactional]
topology: {orders: {partitions: 1}}
produce: [{to: orders, count: 200, rate: 1000/s}]
consume: [{from: orders, group: billing, workers: 2, batch: 20, settle: {when: after-batch}, handler: {takes: 4ms}, effect: {store: $store, mode: $mode}}]
timeline:
  - {at: {worker: billing, point: mid-batch, n: 10}, do: kill, target: billing}
  - {after: 1s, do: start, target: billing}
claims: at-least-once
`
	doc, err := workloads.Parse("stores.yaml", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	engines, err := catalog.FindAll("inmem:kafka")
	if err != nil {
		t.Fatal(err)
	}
	results, err := Run(context.Background(), Request{Workloads: []*workloads.Document{doc}, Engines: engines, Out: filepath.Join(t.TempDir(), "suite")})
	if err != nil {
		t.Fatal(err)
	}
	twice := map[string]int64{}
	for _, r := range results.Runs {
		twice[r.Variant] = r.Counts["effect-duplicates"]
	}
	for variant, want := range map[string]int64{
		"memory+plain": 10, "memory+upsert": 0, "memory+claim": 0, "memory+transactional": 0,
		"sqlite+plain": 10, "sqlite+upsert": 0, "sqlite+claim": 0, "sqlite+transactional": 0,
	} {
		if got, ran := twice[variant]; !ran || got != want {
			t.Errorf("%s: %d effects twice, want %d (ran: %v)", variant, got, want, ran)
		}
	}
}
