// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"github.com/seed-720a3c77/harness/checkers"
)

// sharesView is who did how much of the work, one group for workers, partitions, producers.
type sharesView struct {
	Title string
	Rows  []shareRow
}

type shareRow struct {
	Name, Count, Share string
	Width              string // of the bar
	P99, Peak          string
}

// shownShares bounds the rows of one group.
const shownShares = 40

func newShares(r *checkers.Result) []sharesView {
	var groups []sharesView
	for _, of := range shareGroups(r) {
		total, rows := int64(0), []checkers.Share(nil)
		for _, s := range r.Shares {
			if s.Of == of {
				total += s.Handled
				rows = append(rows, s)
			}
		}
		groups = append(groups, newShareGroup(of, total, rows))
	}
	return groups
}

func shareGroups(r *checkers.Result) []string {
	var groups []string
	seen := map[string]bool{}
	for _, s := range r.Shares {
		if !seen[s.Of] {
			seen[s.Of] = true
			groups = append(groups, s.Of)
		}
	}
	return groups
}

func newShareGroup(of string, total int64, shares []checkers.Share) sharesView {
	v := sharesView{Title: shareTitle(of)}
	for i, s := range shares {
		if i == shownShares {
			v.Rows = append(v.Rows, shareRow{Name: plural(len(shares)-i, "more", "more"), Width: "0%", P99: none, Peak: none})
			break
		}
		row := shareRow{Name: s.Name, Count: Thousands(s.Handled), Share: shareOf(s.Handled, total), Width: "0%", P99: none, Peak: none}
		if total > 0 && s.Handled > 0 {
			row.Width = percent(float64(s.Handled) / float64(total))
		}
		if s.P99Ns > 0 {
			row.P99 = Duration(s.P99Ns)
		}
		if s.PeakInFlight > 0 {
			row.Peak = Thousands(s.PeakInFlight)
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}

func shareTitle(of string) string {
	switch of {
	case "worker":
		return "Handled, by worker"
	case "partition":
		return "Handled, by partition or queue"
	case "producer":
		return "Acked, by producer"
	}
	return "By " + of
}
