// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"slices"
	"strings"

	"github.com/seed-720a3c77/harness/checkers"
)

// none stands for what was not measured: never a 0.
const none = "–"

// fact is a count with what the claims of its run make of it.
type fact struct {
	Label string
	Text  string
	// Class is "bad" where it breaks a claim, "allowed" where it was found and the claims
	// allow it, "zero" and "" otherwise.
	Class string
}

// factKind names a count and the anomalies that it sums up.
type factKind struct {
	label, count string
	rows         []string
}

var (
	factLost        = factKind{"lost", "lost", []string{"lost-undelivered", "lost-after-delivery", "position-passed", "settled-without-success", "lost-in-dead-lettering"}}
	factStored      = factKind{"stored twice", "stored-twice", []string{"stored-twice"}}
	factRedelivered = factKind{"redelivered", "redelivered", []string{"redelivered"}}
	factEffects     = factKind{"effects twice", "effect-duplicates", []string{"effect-duplicates"}}
	factOverlapping = factKind{"overlapping", "overlapping", []string{"overlapping"}}
)

func (k factKind) of(r *checkers.Result) fact {
	n, measured := r.Counts[k.count]
	if !measured {
		return fact{k.label, none, ""}
	}
	return fact{k.label, Thousands(n), k.class(r, n)}
}

func (k factKind) class(r *checkers.Result, n int64) string {
	if n == 0 {
		return "zero"
	}
	class := ""
	for i := range r.Anomalies {
		a := &r.Anomalies[i]
		switch {
		case !slices.Contains(k.rows, a.Name):
		case a.Kind == checkers.KindError:
			return "bad"
		case a.Kind == checkers.KindLegal:
			class = "allowed"
		}
	}
	return class
}

// latencyOf finds a histogram; nil where there is none or nothing is in it.
func latencyOf(r *checkers.Result, name, window string) *checkers.Latency {
	for i := range r.Latency {
		if l := &r.Latency[i]; l.Name == name && l.Window == window && l.Count > 0 {
			return l
		}
	}
	return nil
}

// handledP99 is the 99th percentile from due to handled over the whole run.
func handledP99(r *checkers.Result) string {
	if l := latencyOf(r, "handled", "all"); l != nil {
		return Duration(l.P99Ns)
	}
	return none
}

// words turns a fixed name into words: "duplicate-after-ack" is "duplicate after ack".
func words(name string) string { return strings.ReplaceAll(name, "-", " ") }

// plural chooses the word for a count.
func plural(n int, one, many string) string {
	if n == 1 {
		return Thousands(int64(n)) + " " + one
	}
	return Thousands(int64(n)) + " " + many
}

// sortedKeys are the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
