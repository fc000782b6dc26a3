// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/internal/catalog"
	"github.com/seed-720a3c77/harness/workloads"
)

// TestZombiesAreToldApart: a worker that was frozen past its session or lease wakes, works
// and settles. What the broker makes of that differs: a commit is fenced, a closed channel
// refuses, a standard queue of AWS says ok and does nothing, LocalStack does as it is told.
// How it is on real brokers is tested with the command, in processes.
func TestZombiesAreToldApart(t *testing.T) {
	for engine, want := range map[string]string{
		"inmem:kafka":               "refused-settle",
		"inmem:rabbitmq":            "refused-settle",
		"inmem:rabbitmq-4.0-quorum": "refused-settle",
		"inmem:rabbitmq-classic":    "refused-settle",
		"inmem:sqs":                 "silent-settle",
		"inmem:localstack":          "", // it deletes by any receipt handle
	} {
		r := zombie(t, engine)
		n := r.Counts["zombie-settle"]
		if checkers.ExitCode(*r) != checkers.ExitPass || n == 0 || r.Counts["zombie-effect"] == 0 {
			t.Errorf("%s: %s: %s; settlements by the zombie %d, effects %d", engine, r.Verdict, r.Sentence, n, r.Counts["zombie-effect"])
		}
		for _, what := range []string{"refused-settle", "silent-settle", "stale-accepted"} {
			expected := int64(0)
			if what == want {
				expected = n
			}
			if got := r.Counts[what]; got != expected {
				t.Errorf("%s: %s %d, want %d of %d settlements by the zombie", engine, what, got, expected, n)
			}
		}
	}
}

func zombie(t *testing.T, engine string) *checkers.Result {
	t.Helper()
	engines, err := catalog.FindAll(engine)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := workloads.Find("zombie")
	if err != nil {
		t.Fatal(err)
	}
	results, err := Run(context.Background(), Request{
		Workloads: []*workloads.Document{doc}, Variants: []string{"plain"}, Engines: engines, Out: filepath.Join(t.TempDir(), "suite"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(results.Runs) != 1 {
		t.Fatalf("%s: not run: %+v", engine, results.NotRun)
	}
	return &results.Runs[0]
}
