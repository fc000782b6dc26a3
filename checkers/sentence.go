// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-720a3c77/harness/contract"
)

// sentence is the verdict in at most three sentences: the number against its limit, the
// cause, what held.
func (b *bench) sentence() string {
	switch b.result.Verdict {
	case contract.Violated:
		return b.violatedSentence()
	case contract.Inconclusive:
		return strings.TrimSpace(b.lackSentence() + " " + b.held())
	case contract.NotApplicable:
		return b.firstOf(contract.NotApplicable)
	}
	return b.passSentence()
}

func (b *bench) firstOf(v contract.Verdict) string {
	for i := range b.result.Claims {
		if b.result.Claims[i].Verdict == v {
			return b.result.Claims[i].Sentence
		}
	}
	return "Nothing was claimed."
}

func (b *bench) lackSentence() string {
	if len(b.result.Missing) > 0 {
		return sentence(b.result.Missing[0].Found)
	}
	return b.firstOf(contract.Inconclusive)
}

func (b *bench) violatedSentence() string {
	var said []string
	for i := range b.result.Claims {
		if c := &b.result.Claims[i]; c.Verdict == contract.Violated && len(said) < 2 && !slices.Contains(said, c.Sentence) {
			said = append(said, c.Sentence)
		}
	}
	return strings.TrimSpace(strings.Join(said, " ") + " " + b.held())
}

// held says what was looked for and not found: nothing where a part of the record is
// missing, since that may be where it was.
func (b *bench) held() string {
	if b.f.c.ends.incomplete {
		return ""
	}
	var said []string
	if b.f.lost() == 0 {
		said = append(said, "nothing was lost")
	}
	if b.f.tally[effectDuplicate].measured && b.f.count(effectDuplicate) == 0 && b.f.exposure.effects > 0 {
		said = append(said, "no effect ran twice")
	}
	if len(said) == 0 {
		return ""
	}
	return sentence(strings.Join(said, " and "))
}

func (b *bench) passSentence() string {
	acked := b.f.counts["acked"]
	lost := fmt.Sprintf("no acked message was lost (0 of %s)", number(acked))
	if n := b.f.lost(); n > 0 {
		lost = counted(n, "message was", "messages were") + " lost, which the claim allows"
	}
	again := "nothing was delivered twice"
	if !b.f.tally[redelivered].measured {
		again = "what was delivered is not seen"
	}
	if n := b.f.count(redelivered); n > 0 {
		again = counted(n, "redelivery has a cause", "redeliveries have a cause") + b.causes(redelivered)
	}
	effects := "no effect ran twice"
	if n := b.f.count(effectDuplicate); n > 0 {
		effects = counted(n, "effect ran twice", "effects ran twice") + ", which the claim allows"
	}
	return sentence(lost, again, effects)
}

// because names the findings that broke a claim, with their causes and an id.
func (b *bench) because(breaks []row) string {
	text := b.list(breaks)
	ids := b.f.ids(breaks...)
	if len(ids) > 0 {
		text += ", first " + ids[0].String()
	}
	return sentence(text)
}

// list is every finding of the rows in words: "57 effects ran twice (session died 57)".
func (b *bench) list(breaks []row) string {
	var said []string
	for _, r := range breaks {
		if n := b.f.count(r); n > 0 && table[r].Kind(b.f.c.header) != KindLegal {
			said = append(said, fmt.Sprintf("%s %s%s", number(n), phrase(r, n), b.causes(r)))
		}
	}
	return strings.Join(said, ", ")
}

// causes lists how many findings of a row each cause has.
func (b *bench) causes(r row) string {
	var said []string
	for cause := noCause + 1; cause < causes; cause++ {
		if n := b.f.byCause[r][cause]; n > 0 {
			said = append(said, fmt.Sprintf("%s %s", cause, number(n)))
		}
	}
	if len(said) == 0 {
		return ""
	}
	return " (" + strings.Join(said, ", ") + ")"
}

func phrase(r row, n int64) string {
	is := "acked messages are"
	if n == 1 {
		is = "acked message is"
	}
	switch r {
	case lostUndelivered:
		return is + " lost, never delivered"
	case lostAfterDelivery:
		return is + " lost after delivery"
	case positionPassed:
		return is + " lost: the position went past"
	case settledWithoutSuccess:
		return is + " lost: settled without success"
	case lostInDeadLettering:
		return is + " lost in dead-lettering"
	case lostWithoutEffect:
		return is + " lost: gone from the broker without an effect"
	case effectDuplicate:
		if n == 1 {
			return "effect ran twice"
		}
		return "effects ran twice"
	}
	return strings.ReplaceAll(table[r].Name, "-", " ")
}
