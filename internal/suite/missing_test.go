// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/internal/catalog"
	"github.com/seed-720a3c77/harness/workloads"
)

// TestWhatIsMissingIsNotLost: a record that was cut short, as by a full disk, loses its
// deliveries and not the messages: no verdict, never a violation and never a pass.
func TestWhatIsMissingIsNotLost(t *testing.T) {
	doc, err := workloads.Find("crash-mid-batch")
	if err != nil {
		t.Fatal(err)
	}
	engines, err := catalog.FindAll("inmem:kafka")
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "suite")
	results, err := Run(context.Background(), Request{Workloads: []*workloads.Document{doc}, Variants: []string{"after-batch"}, Engines: engines, Out: out})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(out, results.Runs[0].Dir)
	segments, err := filepath.Glob(filepath.Join(dir, "*billing*.seg"))
	if err != nil || len(segments) == 0 {
		t.Fatalf("segments of the workers: %v, %v", segments, err)
	}
	for _, s := range segments {
		if err := os.Remove(s); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Judge(dir)
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != contract.Inconclusive || r.Counts["lost"] != 0 {
		t.Errorf("%s, lost %d: %s", r.Verdict, r.Counts["lost"], r.Sentence)
	}
}
