// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-720a3c77/harness/contract"
)

// latencyMetric begins the name of a metric that is a latency.
const latencyMetric = "latency."

// threshold judges a bound on a metric. A metric is a count by its name, or
// latency.NAME.FIGURE in nanoseconds, with the figure p50, p90, p99, p99.9, max or min.
func (b *bench) threshold(t *contract.Threshold) ClaimResult {
	out := ClaimResult{Name: t.Text, Limit: t.Op + " " + figure(t.Limit, t.Unit), Measured: "–", Teeth: b.teeth()}
	if out.Name == "" {
		out.Name = t.Metric
	}
	value, measured := b.metric(t)
	if !measured {
		out.Verdict, out.Sentence = contract.Inconclusive, fmt.Sprintf("%s was not measured.", t.Metric)
		b.result.Missing = addMissing(b.result.Missing, []Missing{{"Metric was measured", t.Metric + " was not measured", "at least 1 sample", b.command()}})
		return out
	}
	out.Measured = figure(value, t.Unit)
	out.Sentence = fmt.Sprintf("%s was %s (limit %s).", t.Metric, out.Measured, out.Limit)
	switch {
	case !compare(value, t.Op, t.Limit):
		out.Verdict = contract.Violated
	case len(b.lacks) > 0:
		out.Verdict = contract.Inconclusive
		b.result.Missing = addMissing(b.result.Missing, b.lacks)
	default:
		out.Verdict = contract.Pass
	}
	return out
}

func compare(value float64, op string, limit float64) bool {
	switch op {
	case "==":
		return value == limit
	case "!=":
		return value != limit
	case "<":
		return value < limit
	case "<=":
		return value <= limit
	case ">":
		return value > limit
	case ">=":
		return value >= limit
	}
	return false
}

func figure(x float64, unit string) string {
	if unit == "ns" {
		return span(int64(x))
	}
	return strconv.FormatFloat(x, 'g', 6, 64)
}

func (b *bench) metric(t *contract.Threshold) (float64, bool) {
	if rest, is := strings.CutPrefix(t.Metric, latencyMetric); is {
		name, figure, _ := strings.Cut(rest, ".")
		return b.latency(name, figure, t.Window)
	}
	n, measured := b.countOf(t.Metric)
	if t.Unit == "share" && b.f.counts["acked"] > 0 {
		return float64(n) / float64(b.f.counts["acked"]), measured
	}
	return float64(n), measured
}

// countOf is a count by its name. One by cause is 0 where the row was looked for and the
// cause did not come.
func (b *bench) countOf(metric string) (n int64, measured bool) {
	if n, measured = b.result.Counts[metric]; measured {
		return n, true
	}
	name, cause, split := strings.Cut(metric, ".")
	if !split || !slices.Contains(contract.Causes(), cause) {
		return 0, false
	}
	for _, r := range rowsByCause {
		if table[r].Name == name {
			return 0, b.f.tally[r].measured
		}
	}
	return 0, false
}

func (b *bench) latency(name, figure, window string) (float64, bool) {
	window, _, _ = strings.Cut(window, " ")
	if window == "" || len(b.f.c.faults.windows) == 0 {
		window = windowName[windowAll]
	}
	for i := range b.result.Latency {
		l := &b.result.Latency[i]
		if l.Name != name || l.Window != window || l.Count == 0 {
			continue
		}
		switch figure {
		case "p50":
			return float64(l.P50Ns), true
		case "p90":
			return float64(l.P90Ns), true
		case "p99":
			return float64(l.P99Ns), true
		case "p99.9":
			return float64(l.P999Ns), true
		case "max":
			return float64(l.MaxNs), true
		case "min":
			return float64(l.MinNs), true
		}
	}
	return 0, false
}
