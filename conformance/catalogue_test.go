// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/contract"
)

// anomaly is a row of the catalogue of what can go wrong, as the field names it, and the
// rules that find it here.
type anomaly struct{ name, rules string }

// catalogue lists the anomalies of log brokers, queue brokers, and of sinks and runs.
func catalogue() []anomaly {
	return []anomaly{
		{"inconsistent offset", "inconsistent-offset"},
		{"duplicate in log", "duplicate-in-log stored-twice"},
		{"lost write", "lost-write"},
		{"unseen", "undrained lost-undelivered"},
		{"phantom, aborted read", "phantom aborted-read"},
		{"precommitted read", "precommitted-read"},
		{"torn transaction", "torn-transaction"},
		{"poll skip, also inside one poll", "poll-skip"},
		{"nonmonotonic poll, also inside one poll", "nonmonotonic-poll"},
		{"nonmonotonic send, send skip", "nonmonotonic-send send-skip"},
		{"write not after a known offset", "write-behind-known"},
		{"cycles of writes, and of writes and reads", "write-cycle read-cycle"},
		{"leader epoch regression", "kgo:epoch"},
		{"commit ahead", "commit-ahead consumer-session:committed-ahead"},
		{"commit regression", "commit-regression"},
		{"behind committed", "behind-committed consumer-session:behind-committed"},
		{"hole after takeover", "hole-after-takeover"},
		{"zombie consumption, zombie commit", "zombie-handling zombie-settle stale-accepted consumer-session:consumed-unassigned consumer-session:committed-unassigned"},
		{"double ownership", "double-ownership"},
		{"no rewind after an abort", "poll-skip nonmonotonic-poll"},
		{"exactly-once violation", "effect-duplicates position-passed"},
		{"divergence of two readers", "inconsistent-offset"},
		{"end offset regression", "end-offset-regression"},

		{"lost", "lost-undelivered set-full:lost"},
		{"lost after delivery", "lost-after-delivery settled-without-success"},
		{"from nowhere", "from-nowhere foreign"},
		{"duplicate after ack", "duplicate-after-ack"},
		{"duplicate, unflagged", "unflagged-redelivery"},
		{"duplicate, explained", "redelivered dup-budget:over dup-budget:third"},
		{"duplicate, unexplained", "duplicate-unexplained"},
		{"premature redelivery", "premature-redelivery"},
		{"overlapping holders", "overlapping"},
		{"missing redelivery, stuck", "stuck"},
		{"wrong count", "wrong-count"},
		{"dead-lettered too early, too late", "dead-letter-early dead-letter-late dead-letter-premature"},
		{"dead-lettered twice, or and processed", "dead-letter-twice dead-letter-after-ack dead-letter-false"},
		{"lost in dead-lettering", "lost-in-dead-lettering"},
		{"policy drop", "policy-drop"},
		{"innocent victim", "innocent-victim"},
		{"deduplication violated", "dedup-violation"},
		{"group order", "order-group"},
		{"group blocked violated", "group-blocked"},
		{"queue order", "order-partition seq:ordering"},
		{"single active consumer violated", "two-active"},
		{"time to live violated", "expired-delivered"},
		{"receipt misuse accepted", "stale-accepted silent-settle refused-settle"},
		{"not empty after the drain", "not-empty"},

		{"duplicate effect", "effect-duplicates"},
		{"lost effect", "settled-without-success position-passed lost-without-effect"},
		{"effect without a message", "effect-from-nowhere"},
		{"store of effects differs from what was recorded", "effect-store-differs"},
		{"zombie effect", "zombie-effect"},
		{"order of effects per key", "order-key"},
		{"corrupt body", "corrupt"},
		{"recovered", "recovered"},
	}
}

// TestTheCatalogueIsWhole: every anomaly has rules, every rule is there and is missed by a
// case or a planted defect when it is taken away (TestEveryRuleIsMissed), and no row of the
// checkers is of no anomaly.
func TestTheCatalogueIsWhole(t *testing.T) {
	rules, used := RuleNames(), map[string]bool{}
	for _, a := range catalogue() {
		for rule := range strings.FieldsSeq(a.rules) {
			used[rule] = true
			if !slices.Contains(rules, rule) {
				t.Errorf("%s: no rule %q", a.name, rule)
			}
		}
	}
	others := []string{"dead-lettered", "call-overrun", "redelivered-beyond-uncommitted"} // counts, and the sum of others by generation
	for _, rule := range rules {
		own := strings.Contains(rule, ":")
		claim := slices.Contains(claimNames(), rule)
		if !used[rule] && !own && !claim && !slices.Contains(others, rule) {
			t.Errorf("row %q is of no anomaly", rule)
		}
	}
}

// withoutBug are rows that no bug of the reference engine can show, and who shows them.
var withoutBug = map[string]string{
	"lost-without-effect": "events: programs that are not the harness's", "foreign": "events: somebody else writes to the same queue",
	"effect-from-nowhere": "events: the application does it", "effect-store-differs": "events: the store does it", "end-offset-regression": "events: a log that was truncated",
	"call-overrun": "events: the client does it", "recovered": "honest: what was not answered and came is no defect",
	"innocent-victim": "honest: the contract of the broker", "dead-letter-premature": "events", "policy-drop": "honest: a declared limit",
	"position-passed": "honest: the application settles first", "settled-without-success": "honest: the application settles first",
	"silent-settle": "honest: a standard queue answers so to a stale receipt",
}

// TestEveryRowHasABug: the defect that shows a row is planted in the reference engine, or it
// is written down why it cannot be.
func TestEveryRowHasABug(t *testing.T) {
	found := map[string]bool{}
	for _, p := range Bugs() {
		for finding := range strings.SplitSeq(p.Finds, "; ") {
			name, _, _ := strings.Cut(finding, " ")
			found[name] = true
		}
	}
	for _, name := range rowNames() {
		why, excused := withoutBug[name]
		switch {
		case !found[name] && !excused:
			t.Errorf("no planted bug shows %q", name)
		case found[name] && excused:
			t.Errorf("%q is shown by a bug, and is excused: %s", name, why)
		}
	}
}

func rowNames() (names []string) {
	for _, r := range checkers.Rows() {
		names = append(names, r.Name)
	}
	return names
}

func claimNames() (names []string) {
	for _, c := range contract.Claims() {
		names = append(names, string(c))
	}
	return append(names, checkers.AlwaysClaimed()...)
}
