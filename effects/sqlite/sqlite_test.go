// SPDX-License-Identifier: Apache-2.0

package sqlite

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/effects"
	"github.com/seed-720a3c77/harness/effects/storetest"
)

func TestStore(t *testing.T) {
	file := filepath.Join(t.TempDir(), "effects.db")
	n := 0
	storetest.Run(t, func(ctx context.Context, clk clock.Clock, mode effects.Mode) (effects.Store, error) {
		n++
		return Open(ctx, clk, file, fmt.Sprintf("run%d", n), mode, time.Minute)
	})
}

func TestStoreIsNeverUsedTwice(t *testing.T) {
	v := clock.NewVirtual(1)
	defer v.Close()
	file := filepath.Join(t.TempDir(), "effects.db")
	err := v.Run("test", func(ctx context.Context) {
		first, err := Open(ctx, v, file, "run", effects.Plain, 0)
		if err != nil {
			t.Error(err)
			return
		}
		defer first.Close()
		if _, err := Open(ctx, v, file, "run", effects.Plain, 0); err == nil {
			t.Error("a prefix was opened a second time")
		}
		for _, bad := range []string{"", "Run", "a b", "a;drop"} {
			if _, err := Open(ctx, v, file, bad, effects.Plain, 0); err == nil {
				t.Errorf("prefix %q was taken", bad)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}
