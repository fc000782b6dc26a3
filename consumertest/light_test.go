// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"os/exec"
	"strings"
	"testing"
)

// TestNeedsNothing: whoever imports the package compiles the standard library and this
// module, and nothing else.
func TestNeedsNothing(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	const own = "github.com/seed-720a3c77/harness/"
	found := 0
	for path := range strings.FieldsSeq(string(out)) {
		found++
		if !strings.HasPrefix(path, own) {
			t.Errorf("consumertest compiles %s", path)
		}
	}
	if found == 0 {
		t.Error("not even itself is listed")
	}
}
