// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"math"
	"strings"
	"testing"
)

// plain writes no-break spaces as spaces.
func plain(text string) string { return strings.ReplaceAll(text, "\u00a0", " ") }

func TestDurationKeepsThreeDigits(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0 ns", 7: "7.00 ns", 999: "999 ns", 1_000: "1.00 µs", 999_400: "999 µs", 999_600: "1.00 ms",
		19_600_000: "19.6 ms", 2_040_000_000: "2.04 s", 45_000_000_000: "45.0 s", -1_500_000: "-1.50 ms", 3_600_000_000_000: "3,600 s",
	} {
		if got := Duration(ns); plain(got) != want || strings.Contains(got, " ") {
			t.Errorf("Duration(%d) = %q, want %q with a no-break space", ns, got, want)
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

func TestSecondsHasNoZerosBehind(t *testing.T) {
	for ns, want := range map[int64]string{0: "0 s", 500_000_000: "0.5 s", 20_000_000_000: "20 s", 1_234_500_000_000: "1,234.5 s", 1_000: "0.000001 s", -500_000_000: "-0.5 s"} {
		if got := plain(seconds(ns)); got != want {
			t.Errorf("seconds(%d) = %q, want %q", ns, got, want)
		}
	}
}

func TestTicksAreRoundAndFew(t *testing.T) {
	for _, length := range []int64{1, 999, 1_000, 123_456, 3_028_010_606, 60_000_000_000, 360_413_836_982, math.MaxInt64 / 2} {
		ticks := span{0, length}.ticks()
		if len(ticks) < 1 || len(ticks) > 11 {
			t.Errorf("%d ns has %d ticks", length, len(ticks))
		}
	}
	got := ""
	for _, tick := range (span{0, 3_028_010_606}).ticks() {
		got += plain(tick.Text) + ","
	}
	if want := "0 s,0.5 s,1 s,1.5 s,2 s,2.5 s,3 s,"; got != want {
		t.Errorf("ticks of 3.03 s are %s, want %s", got, want)
	}
}

func TestNiceTopHoldsTheValue(t *testing.T) {
	for _, v := range []float64{0, 1, 2, 3, 7, 9.9, 50, 99, 101, 960, 961, 4066, 1e9, math.MaxInt64} {
		if top := niceTop(v); top < v || v > 0 && top > 2.6*v {
			t.Errorf("niceTop(%v) = %v", v, top)
		}
	}
}

func TestDecadesAroundIsNeverEmpty(t *testing.T) {
	for _, r := range [][2]float64{{0, 0}, {1, 1}, {1000, 1000}, {5, 7}, {1e6, 1e9}, {math.MaxInt64, math.MaxInt64}} {
		low, high := decadesAround(r[0], r[1])
		if low >= high || r[0] > 0 && low > r[0] || high < r[1] {
			t.Errorf("decadesAround(%v) = %v, %v", r, low, high)
		}
	}
}

func TestShellWord(t *testing.T) {
	for text, want := range map[string]string{"a.b-c_d/1": "a.b-c_d/1", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$(x)": "'$(x)'"} {
		if got := shellWord(text); got != want {
			t.Errorf("shellWord(%q) = %s, want %s", text, got, want)
		}
	}
}
