// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// number writes a count with commas between thousands.
func number(n int64) string {
	text := strconv.FormatInt(n, 10)
	first := 1
	if n < 0 {
		first = 2
	}
	for i := len(text) - 3; i >= first; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// counted writes "1 message" and "3 messages".
func counted(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(n) + " " + many
}

// span writes a time with three significant digits: 812 ms, 2.04 s.
func span(ns int64) string {
	d := time.Duration(ns)
	switch {
	case d < time.Microsecond:
		return fmt.Sprintf("%d ns", ns)
	case d < time.Millisecond:
		return digits(float64(ns)/1e3) + " µs"
	case d < time.Second:
		return digits(float64(ns)/1e6) + " ms"
	}
	return digits(float64(ns)/1e9) + " s"
}

func digits(x float64) string {
	switch {
	case x < 10:
		return strconv.FormatFloat(x, 'f', 2, 64)
	case x < 100:
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return number(int64(x + 0.5))
}

// sentence begins with a capital letter and ends with a full stop.
func sentence(parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	text := strings.Join(kept, "; ")
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
