// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"testing"

	"github.com/seed-720a3c77/harness/internal/catalog"
	"github.com/seed-720a3c77/harness/workloads"
)

// TestTheCommandFindsItsWorkload: one of the catalogue by its name, a file by its path, also
// where that has no folder and the name is one of the catalogue's.
func TestTheCommandFindsItsWorkload(t *testing.T) {
	listed, err := workloads.Find("steady")
	if err != nil {
		t.Fatal(err)
	}
	own, err := workloads.Parse("steady.yaml", []byte("name: steady\nabout: x\ntopology: {orders: {}}\n"+
		"produce: [{to: orders, count: 1}]\nconsume: [{from: orders, group: billing, settle: {when: after-handler}}]\nclaims: at-least-once\n"))
	if err != nil {
		t.Fatal(err)
	}
	for want, doc := range map[string]*workloads.Document{
		"harness run steady --on inmem:kafka":      listed,
		"harness run steady.yaml --on inmem:kafka": own,
	} {
		s := suite{}
		if got := s.repeat(Cell{Document: doc, Engine: catalog.Engine{Name: "inmem:kafka"}}); got != want {
			t.Errorf("command %q, want %q", got, want)
		}
	}
}
