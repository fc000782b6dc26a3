// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"context"
	"testing"
	"testing/synctest"
)

// runner is a Clock with what tests do to one.
type runner interface {
	Clock
	Run(name string, fn func(context.Context)) error
	Close()
}

// bothClocks runs the test on each clock. Tests use it in a synctest bubble on Wall, so
// that they take no time and instants are exact.
func bothClocks(t *testing.T, test func(t *testing.T, c runner)) {
	t.Run("virtual", func(t *testing.T) {
		v := NewVirtual(1)
		defer v.Close()
		test(t, v)
	})
	t.Run("wall", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := NewWall(1)
			defer w.Close()
			test(t, w)
		})
	})
}

// run runs fn as the task main and fails the test on an error.
func run(t testing.TB, c runner, fn func(context.Context)) {
	t.Helper()
	if err := c.Run("main", fn); err != nil {
		t.Fatal(err)
	}
}

func join(ctx context.Context, tasks ...Task) {
	for _, task := range tasks {
		task.Join(ctx)
	}
}
