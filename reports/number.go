// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"fmt"
	"strconv"
	"strings"
)

// Duration writes nanoseconds with three significant digits and the unit that keeps the
// number below 1,000: 19.6 ms, 2.04 s.
func Duration(ns int64) string {
	units := []struct {
		size float64
		name string
	}{{1, "ns"}, {1e3, "µs"}, {1e6, "ms"}, {1e9, "s"}}
	value, sign := float64(ns), ""
	if value < 0 {
		value, sign = -value, "-"
	}
	at := 0
	for at+1 < len(units) && value/units[at].size >= 999.5 {
		at++
	}
	return sign + significant(value/units[at].size) + "\u00a0" + units[at].name
}

// significant writes three significant digits without an exponent.
func significant(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v >= 999.5:
		return Thousands(int64(v + 0.5))
	case v >= 99.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// Thousands writes a count with commas.
func Thousands(n int64) string {
	text := fmt.Sprint(n)
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "-", text[1:]
	}
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return sign + text
}

// shortDuration is a duration for a tick: no zeros behind.
func shortDuration(ns int64) string {
	number, unit, _ := strings.Cut(Duration(ns), "\u00a0")
	if strings.Contains(number, ".") {
		number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	return number + "\u00a0" + unit
}

func itoa(n int) string { return strconv.Itoa(n) }

// clip keeps a label of a drawing short; where a text may be long it is not clipped.
func clip(text string, runes int) string {
	all := []rune(text)
	if len(all) <= runes {
		return text
	}
	return string(all[:runes-1]) + "…"
}
