// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"strings"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/contract"
)

// claimView is one claim, threshold or expectation as judged.
type claimView struct {
	State           state
	Name, Measured  string
	Limit, Sentence string
	Teeth, IDs      string
}

// shownIDs is how many ids stand beside a claim; the anomalies have more.
const shownIDs = 5

// newClaims shows claims; foreseen are those of a run that is as expected.
func newClaims(claims []checkers.ClaimResult, foreseen bool) []claimView {
	var all []claimView
	for i := range claims {
		c := &claims[i]
		s := stateOf(c.Verdict)
		if s == stateViolated && foreseen {
			s = stateExpected
		}
		all = append(all, claimView{s, c.Name, orDash(c.Measured), orDash(c.Limit), c.Sentence, c.Teeth, idList(c)})
	}
	return all
}

func orDash(text string) string {
	if text == "" {
		return none
	}
	return text
}

func idList(c *checkers.ClaimResult) string {
	var ids []string
	for i, id := range c.IDs {
		if i == shownIDs {
			ids = append(ids, Thousands(int64(len(c.IDs)-i))+" more")
			break
		}
		ids = append(ids, id.String())
	}
	return strings.Join(ids, ", ")
}

// tally says how many claims have which verdict, the worst first.
func tally(claims []checkers.ClaimResult) string {
	if len(claims) == 0 {
		return "nothing was claimed"
	}
	var said []string
	for _, v := range []contract.Verdict{contract.Violated, contract.Inconclusive, contract.Pass, contract.NotApplicable, contract.Unjudged} {
		n := 0
		for i := range claims {
			if claims[i].Verdict == v {
				n++
			}
		}
		if n > 0 {
			said = append(said, Thousands(int64(n))+" "+v.String())
		}
	}
	return strings.Join(said, ", ")
}
