// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/internal/catalog"
	"github.com/seed-720a3c77/harness/workloads"
)

// TestAMissingBrokerIsToldOnce: the error says it once, however many cells wanted the broker,
// and each of these keeps the reason.
func TestAMissingBrokerIsToldOnce(t *testing.T) {
	doc, err := workloads.Find("crash-mid-batch")
	if err != nil {
		t.Fatal(err)
	}
	engines, err := catalog.FindAll("kafka")
	if err != nil {
		t.Fatal(err)
	}
	gone := errors.New("nobody answers")
	connect := func(context.Context, catalog.Engine) (catalog.Connection, error) { return catalog.Connection{}, gone }
	results, err := Run(context.Background(), Request{Workloads: []*workloads.Document{doc}, Engines: engines, Out: filepath.Join(t.TempDir(), "suite"), Connect: connect})
	if !errors.Is(err, gone) || !errors.Is(err, ErrFailed) || strings.Count(err.Error(), gone.Error()) != 1 {
		t.Errorf("%v, want %q once", err, gone)
	}
	if len(results.NotRun) != 4 {
		t.Errorf("%d cells were not run, want 4", len(results.NotRun))
	}
	for _, not := range results.NotRun {
		if !strings.Contains(not.Reason, gone.Error()) {
			t.Errorf("%s %s: %s", not.Workload, not.Variant, not.Reason)
		}
	}
}
