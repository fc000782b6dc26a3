// SPDX-License-Identifier: Apache-2.0

package effects_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/effects"
	"github.com/seed-720a3c77/harness/effects/storetest"
)

func TestMemory(t *testing.T) {
	storetest.Run(t, func(_ context.Context, clk clock.Clock, mode effects.Mode) (effects.Store, error) {
		return effects.NewMemory(clk, mode, time.Minute)
	})
}

func TestUnknownModeIsRefused(t *testing.T) {
	for _, mode := range []effects.Mode{"", "once"} {
		if _, err := effects.NewMemory(nil, mode, 0); !errors.Is(err, effects.ErrMode) {
			t.Errorf("mode %q: %v", mode, err)
		}
	}
}
