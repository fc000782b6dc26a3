// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"math"
	"testing"
)

func TestDurationKeepsThreeDigits(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0 ns", 7: "7.00 ns", 999: "999 ns", 1_000: "1.00 µs", 999_400: "999 µs", 999_600: "1.00 ms",
		19_600_000: "19.6 ms", 2_040_000_000: "2.04 s", 45_000_000_000: "45.0 s", -1_500_000: "-1.50 ms", 3_600_000_000_000: "3,600 s",
	} {
		if got := Duration(ns); got != want {
			t.Errorf("Duration(%d) = %q, want %q", ns, got, want)
		}
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567", math.MaxInt64: "9,223,372,036,854,775,807"} {
		if got := Thousands(n); got != want {
			t.Errorf("Thousands(%d) = %q, want %q", n, got, want)
		}
	}
}
