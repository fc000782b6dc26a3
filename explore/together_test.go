// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"maps"
	"testing"

	"github.com/seed-720a3c77/harness/contract"
)

// TestEndsOfAChannelCountTogether: twenty channels of RabbitMQ that closed under a busy client had
// 17 redeliveries of refused acks in one repeat and 1 in another, where the model has none; with
// those of ended sessions they were inside. Other models know the difference.
func TestEndsOfAChannelCountTogether(t *testing.T) {
	counts := func() map[string]int64 {
		return map[string]int64{"redelivered": 270, "redelivered.session-died": 252, "redelivered.settle-refused": 17, "redelivered.settle-unknown": 1, "effect-duplicates.settle-refused": 3}
	}
	got := counts()
	together(got, contract.PushQueue)
	if want := (map[string]int64{"redelivered": 270, "redelivered.session-died": 270, "effect-duplicates.session-died": 3}); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for _, model := range []contract.Model{contract.Log, contract.LeaseQueue} {
		got := counts()
		together(got, model)
		if !maps.Equal(got, counts()) {
			t.Errorf("model %v: %v", model, got)
		}
	}
}
