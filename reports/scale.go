// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"math"
	"strconv"
	"strings"
)

// A chart is as wide as its page lets it be: x is in per cent of the plot, y in pixels.
// Shapes with many points lie in a nested SVG that is stretched, so one drawing fits every
// width and the text in it never scales.

// percent writes a share of the width, at most two decimals.
func percent(share float64) string { return decimals(share*100, 2) + "%" }

// decimals writes a number with at most n decimals and no trailing zeros.
func decimals(v float64, n int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "0"
	}
	text := strconv.FormatFloat(v, 'f', n, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	if text == "-0" {
		return "0"
	}
	return text
}

// scale maps a value to pixels from the top of a panel.
type scale func(float64) float64

// linear has 0 at the bottom of a panel of a height and top at its top.
func linear(top, height float64) scale {
	return func(v float64) float64 { return height - v/top*height }
}

// decades has low at the bottom and high at the top, a power of ten as far from the next everywhere.
func decades(low, high, height float64) scale {
	span := math.Log10(high) - math.Log10(low)
	return func(v float64) float64 {
		return height - (math.Log10(max(v, low))-math.Log10(low))/span*height
	}
}

// niceTop is the end of an axis that holds a value with a little room.
func niceTop(v float64) float64 {
	if v <= 0 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10} {
		if m*power >= v*1.04 {
			return m * power
		}
	}
	return 20 * power
}

// decadesAround are the powers of ten around a range; they are never equal.
func decadesAround(low, high float64) (float64, float64) {
	low, high = max(low, 1), max(high, 1)
	from, to := math.Floor(math.Log10(low)), math.Ceil(math.Log10(high))
	if to <= from {
		to = from + 1
	}
	return math.Pow(10, from), math.Pow(10, to)
}

// span is a stretch of time drawn over the width of a plot.
type span struct{ from, to int64 }

// share is where an instant lies, 0 left and 1 right; what lies outside is at the edge.
func (s span) share(ns int64) float64 {
	if s.to <= s.from {
		return 0
	}
	return min(max(float64(ns-s.from)/float64(s.to-s.from), 0), 1)
}

func (s span) x(ns int64) string { return percent(s.share(ns)) }

func (s span) width(from, to int64) string { return percent(max(s.share(to)-s.share(from), 0)) }

// tick is a mark on an axis.
type tick struct {
	X, Text, Anchor string
	// Minor is hidden where there is little room.
	Minor bool
}

// ticks are about eight round instants.
func (s span) ticks() []tick {
	length := s.to - s.from
	if length <= 0 {
		return nil
	}
	var all []tick
	step := tickStep(length)
	for i := range length/step + 1 {
		at := s.from + i*step
		anchor := "middle"
		switch share := s.share(at); {
		case share < 0.01:
			anchor = "start"
		case share > 0.98:
			anchor = "end"
		}
		all = append(all, tick{s.x(at), seconds(at), anchor, i%2 == 1})
	}
	return all
}

// tickStep is 1, 2 or 5 times a power of ten.
func tickStep(length int64) int64 {
	for base := int64(1000); base < math.MaxInt64/20; base *= 10 {
		for _, m := range []int64{1, 2, 5} {
			if length/(base*m) <= 9 {
				return base * m
			}
		}
	}
	return length
}

// seconds writes an instant of a run: always in seconds, without zeros at its end.
func seconds(ns int64) string {
	text := decimals(float64(ns)/1e9, 6)
	whole, part, fraction := strings.Cut(text, ".")
	if n, err := strconv.ParseInt(whole, 10, 64); err == nil && n != 0 {
		whole = Thousands(n)
	}
	if fraction {
		whole += "." + part
	}
	return whole + "\u00a0s"
}

// clock writes an instant for a table: seconds with four decimals and no unit.
func clock(ns int64) string {
	if ns < 0 {
		return none
	}
	return strconv.FormatFloat(float64(ns)/1e9, 'f', 4, 64)
}
