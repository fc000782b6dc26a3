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
	// words are what a row can be, said by its element at; none are not looked at.
	words []string
	at    int
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
		{name: "seq", judge: judgeSequence, rules: []string{"ordering"}, words: []string{"sent", "recv"}},
		{name: "fifo-groups", judge: judgeGroups, words: []string{"send", "recv"}, at: 1},
		{name: "visibility", judge: judgeVisibility, rules: []string{"over"}, words: []string{"send", "recv", "delete", "extend", "dlq", "purge"}, at: 1},
		{name: "amqp", judge: judgeAMQP, rules: []string{"attempts"}, words: []string{"pub", "deliver", "get", "requeue", "nack", "reject", "ack", "cancel", "close", "dlq"}},
		{name: "session", judge: judgeSession, rules: guarantees},
		{name: "delivery", judge: judgeDelivery},
		{name: "consumer-session", judge: judgeConsumer, rules: consumerRules, words: []string{"assigned", "revoked", "consumed", "committed", "shutdown", "killed", "closed"}, at: 1},
		{name: "dup-budget", judge: judgeBudget, rules: []string{"third", "over", "failed"}},
		{name: "eos", judge: judgeEOS, words: []string{"in", "tx", "out"}},
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

func unknownKind(name string) error {
	return errors.New(suggest.Unknown("kind", name, kindNames()))
}

// check wants every row to be one of those that the kind knows.
func (k *kind) check(c *Case) error {
	if k.words == nil {
		return nil
	}
	rows, err := c.rows()
	if err != nil {
		return err
	}
	for i, r := range rows {
		if !slices.Contains(k.words, r.text(k.at)) {
			return fmt.Errorf("row %d: %w: %s", i+1, errShape, suggest.Unknown("row", word(r.at(k.at)), k.words))
		}
	}
	return nil
}

// Judge judges one case. The text says what of its expectation is not met, "" for all met.
func (c *Case) Judge(rules Rules) (string, error) {
	figures, ordered, err := c.figures(rules)
	if err != nil {
		return "", err
	}
	if text := compare(c, figures, ordered); text != "" {
		return text, nil
	}
	if c.Only {
		return only(c, figures), nil
	}
	return "", nil
}

// figures are what its kind's judge finds, and whether their order is part of the verdict.
func (c *Case) figures(rules Rules) (Figures, bool, error) {
	i := slices.IndexFunc(kinds(), func(k kind) bool { return k.name == c.Kind })
	if i < 0 {
		return nil, false, unknownKind(c.Kind)
	}
	k := kinds()[i]
	if err := k.check(c); err != nil {
		return nil, false, fmt.Errorf("%s: %w", c.ID, err)
	}
	figures, err := k.judge(c, rules)
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w", c.ID, err)
	}
	return figures, k.ordered, nil
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
