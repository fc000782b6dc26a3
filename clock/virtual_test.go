// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"context"
	"testing"
	"time"
)

func TestSleepMovesTime(t *testing.T) {
	v := NewVirtual(1)
	defer v.Close()
	err := v.Run("main", func(ctx context.Context) {
		if err := v.Sleep(ctx, 30*time.Second); err != nil {
			t.Error(err)
		}
	})
	if err != nil || v.Now() != 30*time.Second {
		t.Fatalf("Run = %v at %v, want nil at 30s", err, v.Now())
	}
}
