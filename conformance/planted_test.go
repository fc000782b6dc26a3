// SPDX-License-Identifier: Apache-2.0

package conformance

import "testing"

func TestPlantedBugsAreFound(t *testing.T) {
	for _, p := range append(Bugs(), Honest()...) {
		t.Run(p.Name(), func(t *testing.T) {
			if err := p.Check(Rules{}); err != nil {
				t.Error(err)
			}
		})
	}
}
