// SPDX-License-Identifier: Apache-2.0

package native

import (
	"os"
	"testing"
)

func TestSweepFindsMarkedProcessesWithoutAState(t *testing.T) {
	for name, text := range map[string]string{"no state": "", "half a state": `{"processes": [{"pi`} {
		c := fresh(t)
		p, other := sleeper(t, c.runDir()), sleeper(t, t.TempDir())
		if text != "" {
			if err := os.WriteFile(c.statePath(), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if p.alive() || !other.alive() {
			t.Errorf("%s: marked alive %v, other alive %v", name, p.alive(), other.alive())
		}
	}
}
