// SPDX-License-Identifier: Apache-2.0

package pace

import (
	"testing"
	"time"
)

func TestConstant(t *testing.T) {
	for _, c := range []struct {
		rate float64
		n    int
		want time.Duration
	}{
		{500, 0, 0}, {500, 1, 2 * time.Millisecond}, {500, 500, time.Second}, {0, 99, 0}, {1e6, 7, 7 * time.Microsecond}, {0.5, 1, 2 * time.Second},
	} {
		if got := Constant(c.rate).At(c.n); got != c.want {
			t.Errorf("%v/s at %d: %s, want %s", c.rate, c.n, got, c.want)
		}
	}
}
