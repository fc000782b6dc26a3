// SPDX-License-Identifier: Apache-2.0

// Package suggest finds the nearest right name for a wrong one. It imports only the
// standard library.
package suggest

import (
	"fmt"
	"slices"
	"strings"
)

// Nearest returns the choice that takes the fewest edits to reach from word, or "" when
// none is near enough to be meant.
func Nearest(word string, choices []string) string {
	best, least := "", len(word)/2+2
	for _, choice := range choices {
		if d := edits(strings.ToLower(word), strings.ToLower(choice)); d < least {
			best, least = choice, d
		}
	}
	return best
}

// Unknown is the one line for a name that does not exist: what it was, the nearest
// right one, or the whole list where nothing is near.
func Unknown(what, word string, choices []string) string {
	if near := Nearest(word, choices); near != "" {
		return fmt.Sprintf("unknown %s %q; did you mean %q?", what, word, near)
	}
	if len(choices) == 0 {
		return fmt.Sprintf("unknown %s %q; there is none", what, word)
	}
	sorted := slices.Sorted(slices.Values(choices))
	return fmt.Sprintf("unknown %s %q; there are: %s", what, word, strings.Join(sorted, ", "))
}

// edits is the Levenshtein distance with one row.
func edits(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
