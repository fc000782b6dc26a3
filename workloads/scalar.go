// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// maxDuration and minRate keep a run from lasting for ever, on virtual time too.
const (
	maxDuration = 30 * 24 * time.Hour
	minRate     = 1e-3 // a second
)

// Duration is written with its unit: 250ms, 30s, 5m.
type Duration time.Duration

// UnmarshalYAML refuses a number without a unit.
func (d *Duration) UnmarshalYAML(n ast.Node) error {
	text := scalar(n)
	parsed, err := time.ParseDuration(text)
	if err != nil || (parsed == 0 && text != "0" && !strings.HasPrefix(text, "0")) {
		return lineError(n, "%q is not a duration; write it with a unit, as in 250ms, 30s or 5m", text)
	}
	if parsed < 0 {
		return lineError(n, "%q is negative", text)
	}
	if parsed > maxDuration {
		return lineError(n, "%q is longer than %s", text, maxDuration)
	}
	*d = Duration(parsed)
	return nil
}

// Std is the duration in Go's own type.
func (d Duration) Std() time.Duration { return time.Duration(d) }

func (d Duration) String() string { return time.Duration(d).String() }

// Rate is messages a second, written 500/s, 30/m or "max" for as fast as possible (0).
type Rate float64

// UnmarshalYAML wants the unit.
func (r *Rate) UnmarshalYAML(n ast.Node) error {
	text := scalar(n)
	if text == "max" {
		*r = 0
		return nil
	}
	number, unit, found := strings.Cut(text, "/")
	value, err := strconv.ParseFloat(number, 64)
	if err != nil || !found || !(value > 0 && value <= 1e9) {
		return lineError(n, "%q is not a rate; write 500/s, 30/m or max", text)
	}
	switch unit {
	case "s":
		*r = Rate(value)
	case "m":
		*r = Rate(value / 60)
	default:
		return lineError(n, "%q: unknown unit %q of a rate; write /s or /m", text, unit)
	}
	if *r < minRate {
		return lineError(n, "%q is less than %v/s", text, minRate)
	}
	return nil
}

// Size is bytes, written 200, 1KiB or 2MiB.
type Size int

// UnmarshalYAML reads a plain number as bytes.
func (s *Size) UnmarshalYAML(n ast.Node) error {
	text := scalar(n)
	unit := 1
	digits := text
	for suffix, factor := range map[string]int{"KiB": 1 << 10, "MiB": 1 << 20} {
		if rest, found := strings.CutSuffix(text, suffix); found {
			digits, unit = strings.TrimSpace(rest), factor
		}
	}
	value, err := strconv.Atoi(digits)
	if err != nil || value < 0 || value > 64<<20/unit {
		return lineError(n, "%q is not a size up to 64MiB; write 200, 1KiB or 2MiB", text)
	}
	*s = Size(value * unit)
	return nil
}

// OneOrMany is a list that may be written as its only element.
type OneOrMany []string

// UnmarshalYAML takes a scalar or a sequence of scalars.
func (l *OneOrMany) UnmarshalYAML(n ast.Node) error {
	if list, ok := n.(*ast.SequenceNode); ok {
		for _, entry := range list.Values {
			*l = append(*l, scalar(entry))
		}
		return nil
	}
	*l = OneOrMany{scalar(n)}
	return nil
}

// scalar is the text of a scalar node without quotes.
func scalar(n ast.Node) string {
	if s, ok := n.(*ast.StringNode); ok {
		return s.Value
	}
	return strings.TrimSpace(n.String())
}

// LineError is bad input at a line of a workload.
type LineError struct {
	File string
	Line int
	Text string
}

// Error is one line: file, line and what is wrong.
func (e *LineError) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Text) }

func lineError(n ast.Node, format string, args ...any) error {
	return &LineError{File: "workload", Line: line(n), Text: fmt.Sprintf(format, args...)}
}

func line(n ast.Node) int {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return 0
	}
	return n.GetToken().Position.Line
}
