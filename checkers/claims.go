// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"fmt"
	"slices"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

// rule judges one claim: which findings break it, and what a pass needs.
type rule struct {
	claim contract.Claim
	// breaks are the rows that are positive evidence against the claim.
	breaks []row
	// unowed are those that are too where nothing is owed to a subscription; where it is,
	// the same messages are counted as that.
	unowed []row
	noun   string // what is counted, as in "0 lost"
	// apart from the rows: nil, or what else the claim is about.
	apart func(*bench) (contract.Verdict, string)
	// needs tells what a pass is missing beside what every pass needs.
	needs func(*bench) []Missing
}

// rules lists how every claim is judged.
func rules() []rule {
	return []rule{
		{claim: contract.AtMostOnce, breaks: []row{effectDuplicate}, noun: "effects twice", needs: needsEffects},
		{claim: contract.AtLeastOnce, breaks: append(losses[:], unexplainedRows...), unowed: []row{lostWrite}, noun: "lost or unexplained", needs: needsEnds},
		{claim: contract.EffectivelyOnce, breaks: append(losses[:], effectDuplicate), noun: "lost or effects twice", needs: needsDrain},
		{claim: contract.OrderPerKey, breaks: []row{orderKey}, noun: "out of order",
			apart: promisesOrder, needs: needsPairs(orderKey)},
		{claim: contract.OrderPerPartition, breaks: []row{orderPartition}, noun: "out of order",
			apart: promisesOrder, needs: needsPairs(orderPartition)},
		{claim: contract.SingleHolder, breaks: []row{overlapping}, noun: "overlapping", needs: needsHandlers},
		{claim: contract.DeadLetterJustified, breaks: deadLetterRows, noun: "unjustified dead letters", needs: needsDeadLetters},
		{claim: contract.Drained, noun: "undrained", apart: drainedOut},
	}
}

var (
	unexplainedRows = []row{duplicateUnexplained, duplicateAfterAck, prematureRedelivery}
	deadLetterRows  = []row{deadLetterPremature, deadLetterFalse, deadLetterEarly, deadLetterLate, deadLetterTwice, deadLetterAfterAck}
	// integrityRows break every run, whatever it claims.
	integrityRows = []row{phantom, fromNowhere, corrupt, effectFromNowhere, storeDiffers, inconsistentOffset, abortedRead, tornTransaction}
	// contractRows are what a broker must not do by its own contract.
	contractRows = []row{orderPartition, orderGroup, groupBlocked, duplicateAfterAck, prematureRedelivery, dedupViolation,
		unflaggedRedelivery, wrongCount, commitAhead, commitRegression, behindCommitted, holeAfterTakeover, redeliveredBeyond, doubleOwnership, twoActive, expiredDelivered,
		lostWrite, writeBehind, duplicateInLog, pollSkip, nonmonotonicPoll, precommittedRead, readCycle, staleAccepted, endOffsetRegression, notEmpty, deadLetterEarly, deadLetterLate, deadLetterTwice, deadLetterAfterAck, stuck}
)

// What every run claims, whatever it says.
const (
	integrity  = "integrity"
	byContract = "contract"
)

// AlwaysClaimed lists what every run claims without saying so.
func AlwaysClaimed() []string { return []string{integrity, byContract} }

// bench is where a run is judged: its facts, and what every pass of it lacks.
type bench struct {
	f      *Facts
	result *Result
	lacks  []Missing
}

// judge fills verdicts and sentences in.
func judge(f *Facts, result *Result) {
	b := &bench{f: f, result: result}
	b.lacks = b.everyPassLacks()
	result.Claims = []ClaimResult{}
	for _, claim := range f.c.header.Claims {
		result.Claims = append(result.Claims, b.claim(claim))
	}
	b.always(integrity, integrityRows, "Messages exist that should not, or are not what was sent")
	b.always(byContract, contractRows, "The broker or its client did what the profile rules out")
	b.balanced()
	for i := range f.c.header.Thresholds {
		result.Claims = append(result.Claims, b.threshold(&f.c.header.Thresholds[i]))
	}
	verdicts := make([]contract.Verdict, 0, len(result.Claims))
	for i := range result.Claims {
		verdicts = append(verdicts, result.Claims[i].Verdict)
	}
	result.Verdict = contract.Worst(verdicts...)
	b.expect()
	b.decide(result.Claims, result.Expectations)
	if result.Verdict != contract.Inconclusive {
		result.Missing = nil
	}
	result.Sentence = b.sentence()
}

// decide says of everything that is inconclusive what would decide it: at the least the
// same run once more.
func (b *bench) decide(judged ...[]ClaimResult) {
	for _, claims := range judged {
		for i := range claims {
			c := &claims[i]
			if c.Verdict != contract.Inconclusive || c.Decide != "" {
				continue
			}
			c.Decide = b.command()
			if len(b.lacks) > 0 {
				c.Decide = b.lacks[0].Decide
			}
		}
	}
}

func (b *bench) claim(claim contract.Claim) ClaimResult {
	for _, r := range rules() {
		if r.claim == claim && !b.f.isTaken(string(claim)) {
			return b.apply(&r)
		}
	}
	return ClaimResult{Name: string(claim), Verdict: contract.Inconclusive, Sentence: "This version does not know the claim."}
}

// evident are the rows that what is missing of a record cannot have made: both of the
// things that they compare were seen.
var evident = map[row]bool{effectDuplicate: true, overlapping: true, storedTwice: true, corrupt: true, orderKey: true, orderPartition: true}

// broken counts the findings that break a claim: those that the contract allows do not,
// nor do those that a missing part of the record may explain.
func (b *bench) broken(breaks []row) (n int64, ids []msg.ID) {
	var counting []row
	for _, r := range breaks {
		if table[r].Kind(b.f.c.header) != KindLegal && (evident[r] || !b.f.c.ends.incomplete) {
			counting = append(counting, r)
			n += b.f.count(r)
		}
	}
	return n, b.f.ids(counting...)
}

// apply judges one claim: positive evidence first, then whether the run could have shown any.
func (b *bench) apply(r *rule) ClaimResult {
	breaks := r.breaks
	if len(b.f.c.subs) == 0 {
		breaks = slices.Concat(breaks, r.unowed)
	}
	n, ids := b.broken(breaks)
	out := ClaimResult{Name: string(r.claim), Limit: "0 " + r.noun, Measured: number(n), IDs: ids, Teeth: b.teeth()}
	if n > 0 {
		out.Verdict, out.Sentence = contract.Violated, b.because(breaks)
		return out
	}
	if r.apart != nil {
		if verdict, text := r.apart(b); verdict != contract.Unjudged {
			out.Verdict, out.Sentence = verdict, text
			if r.claim == contract.Drained {
				out.Measured = number(b.f.count(undrained))
			}
			return out
		}
	}
	lacks := b.lacks
	if r.needs != nil {
		lacks = append(lacks[:len(lacks):len(lacks)], r.needs(b)...)
	}
	if len(lacks) > 0 {
		b.result.Missing = addMissing(b.result.Missing, lacks)
		out.Verdict, out.Sentence, out.Decide = contract.Inconclusive, sentence(lacks[0].Found), lacks[0].Decide
		return out
	}
	out.Verdict = contract.Pass
	out.Sentence = fmt.Sprintf("0 %s among %s.", r.noun, counted(b.f.counts["acked"], "acked message", "acked messages"))
	return out
}

// always adds a claim that every run makes, shown only where it is broken.
func (b *bench) always(name string, breaks []row, text string) {
	n, ids := b.broken(breaks)
	if n == 0 || b.f.isTaken(name) {
		return
	}
	b.result.Claims = append(b.result.Claims, ClaimResult{
		Name: name, Verdict: contract.Violated, Limit: "0", Measured: number(n), IDs: ids,
		Sentence: sentence(text + ": " + b.list(breaks)),
	})
}

// balanced adds a violated claim where a sheet of the ledger does not add up.
func (b *bench) balanced() {
	for i := range b.result.Ledger {
		if sheet := &b.result.Ledger[i]; sheet.Difference != 0 {
			b.result.Claims = append(b.result.Claims, ClaimResult{
				Name: "ledger", Verdict: contract.Violated, Limit: "0 left over", Measured: number(sheet.Difference),
				Sentence: fmt.Sprintf("The balance %q of %q does not add up.", sheet.Title, sheet.Subscription),
			})
		}
	}
}

func promisesOrder(b *bench) (contract.Verdict, string) {
	p := b.f.c.profile
	switch {
	case p.Order == contract.OrderNone || p.Order == "":
		return contract.NotApplicable, "The broker promises no order."
	case p.Order == contract.OrderQueue && b.competing():
		return contract.NotApplicable, "Competing consumers on one queue promise no order."
	}
	return contract.Unjudged, ""
}

func (b *bench) competing() bool {
	for _, sub := range b.f.c.subs {
		if len(sub.workers) > 1 {
			return true
		}
	}
	return false
}

func drainedOut(b *bench) (contract.Verdict, string) {
	left := b.f.count(undrained)
	ends := &b.f.c.ends
	switch {
	case ends.drainSeen && !ends.drained && !ends.interrupted:
		text := counted(left, "message was", "messages were") + " still stored or held when the drain ended"
		if ends.drainText != "" {
			text += ": " + ends.drainText
		}
		return contract.Violated, text + "."
	case !ends.drained || left > 0:
		lack := Missing{"Drain finished", counted(left, "message", "messages") + " had not come to an end and no drain was recorded", "a drain to its end", "run again without interrupting it: " + b.command()}
		b.result.Missing = addMissing(b.result.Missing, []Missing{lack})
		return contract.Inconclusive, sentence(lack.Found)
	}
	return contract.Unjudged, ""
}
