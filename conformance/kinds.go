// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"fmt"
	"slices"

	"github.com/seed-720a3c77/harness/internal/suggest"
)

// kind is a form of history and who judges it.
type kind struct {
	name  string
	judge func(*Case, Rules) (Figures, error)
	// ordered: the order of what is found is part of the verdict.
	ordered bool
	// rules are the names of those that are the kind's own, beside the native rows.
	rules []string
}

// kinds is the one list of them.
func kinds() []kind {
	return []kind{
		{name: "log", judge: judgeLog},
		{name: "queue", judge: judgeQueue},
		{name: "unordered-queue", judge: judgeUnordered},
		{name: "set", judge: judgeSet},
		{name: "set-full", judge: judgeSetFull, rules: []string{"lost", "repeated"}},
		{name: "kgo", judge: judgeKgo, rules: []string{"epoch", "order", "bad-read"}},
		{name: "offset-ranges", judge: judgeRanges, rules: []string{"order"}},
		{name: "seq", judge: judgeSequence, rules: []string{"ordering"}},
		{name: "fifo-groups", judge: judgeGroups},
		{name: "visibility", judge: judgeVisibility},
		{name: "amqp", judge: judgeAMQP},
		{name: "session", judge: judgeSession, rules: guarantees},
		{name: "delivery", judge: judgeDelivery},
		{name: "consumer-session", judge: judgeConsumer, rules: consumerRules},
		{name: "dup-budget", judge: judgeBudget, rules: []string{"third", "over"}},
		{name: "eos", judge: judgeEOS},
		{name: "receive-rle", judge: judgeReceive},
		{name: "events", judge: judgeEvents},
	}
}

func kindNames() (names []string) {
	for _, k := range kinds() {
		names = append(names, k.name)
	}
	return names
}

// ErrKind: no kind of this name.
var ErrKind = errors.New("unknown kind")

// Judge judges one case. The text says what of its expectation is not met, "" for all met.
func (c *Case) Judge(rules Rules) (string, error) {
	i := slices.IndexFunc(kinds(), func(k kind) bool { return k.name == c.Kind })
	if i < 0 {
		return "", fmt.Errorf("%w: %s", ErrKind, suggest.Unknown("kind", c.Kind, kindNames()))
	}
	k := kinds()[i]
	figures, err := k.judge(c, rules)
	if err != nil {
		return "", fmt.Errorf("%s: %w", c.ID, err)
	}
	if text := compare(c, figures, k.ordered); text != "" {
		return text, nil
	}
	if c.Only {
		return only(c, figures), nil
	}
	return "", nil
}

// only tells what was found beside what is expected.
func only(c *Case, figures Figures) string {
	for _, name := range logAnomalies {
		if _, expected := c.Expect[name]; !expected && c.Kind == "log" && !nothing(figures[name]) {
			return fmt.Sprintf("%s: found %s, and nothing else may be", name, shown(figures[name]))
		}
	}
	return ""
}
