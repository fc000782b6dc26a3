// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"fmt"
	"slices"
)

// Verdict is a judgement of a claim, of an expectation or of a run.
type Verdict uint8

const (
	// Unjudged is the zero value: a bug wherever a verdict is wanted.
	Unjudged Verdict = iota
	// NotApplicable: the engine cannot show it, with a reason.
	NotApplicable
	// Pass: the claim held and the run had the power to break it.
	Pass
	// Inconclusive: the run cannot tell, with a reason and what would decide it.
	Inconclusive
	// Violated: positive evidence against the claim.
	Violated
)

var verdicts = [...]string{"unjudged", "not applicable", "pass", "inconclusive", "violated"}

func (v Verdict) String() string { return word(verdicts[:], int(v)) }

// MarshalText writes the word.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads the word.
func (v *Verdict) UnmarshalText(text []byte) error {
	i := slices.Index(verdicts[:], string(text))
	if i < 0 {
		return fmt.Errorf("contract: unknown verdict %q", text)
	}
	*v = Verdict(i)
	return nil
}

// Worst is the one order of badness: violated, inconclusive, pass, not applicable.
func Worst(all ...Verdict) Verdict {
	worst := NotApplicable
	for _, v := range all {
		if v == Unjudged {
			return Unjudged
		}
		worst = max(worst, v)
	}
	return worst
}
