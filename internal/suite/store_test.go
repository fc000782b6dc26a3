// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-720a3c77/harness/effects/postgres"
	"github.com/seed-720a3c77/harness/internal/catalog"
	"github.com/seed-720a3c77/harness/internal/testenv"
	"github.com/seed-720a3c77/harness/workloads"
)

// TestStoresGiveTheSameLedger: where effects land does not change what is counted.
func TestStoresGiveTheSameLedger(t *testing.T) {
	for _, store := range []string{"memory", "sqlite", "postgres"} {
		t.Run(store, func(t *testing.T) {
			if store == "postgres" {
				inPostgres(t)
			}
			sameLedger(t, store)
		})
	}
}

// inPostgres makes sure that there is a database.
func inPostgres(t *testing.T) {
	if os.Getenv(postgresVariable) != "" {
		return
	}
	server, err := postgres.Start(t.Context(), nil)
	if errors.Is(err, postgres.ErrUnavailable) {
		testenv.Lacks(t, "postgres", err.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(postgresVariable, server.DSN())
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
}

func sameLedger(t *testing.T, store string) {
	source := `name: stores
about: A crash with effects in different stores.
variants:
  mode: [plain, upsert, claim, transactional]
topology: {orders: {partitions: 1}}
produce: [{to: orders, count: 200, rate: 1000/s}]
consume: [{from: orders, group: billing, workers: 2, batch: 20, settle: {when: after-batch}, handler: {takes: 4ms}, effect: {store: ` + store + `, mode: $mode}}]
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
	for mode, want := range map[string]int64{"plain": 10, "upsert": 0, "claim": 0, "transactional": 0} {
		if got, ran := twice[mode]; !ran || got != want {
			t.Errorf("%s: %d effects twice, want %d (ran: %v)", mode, got, want, ran)
		}
	}
}
