// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"testing"
)

// TestKnownGood: a handler without a mistake passes.
func TestKnownGood(t *testing.T) {
	for _, p := range []Profile{Kafka, SQSStandard} {
		t.Run("one transaction/"+string(p), func(t *testing.T) {
			t.Parallel()
			found, _ := hunt(t, single(onceBy(byID, 0)), p, 300)
			if found != nil {
				t.Error(found.story(t.Name()))
			}
		})
	}
}
