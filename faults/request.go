// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed-720a3c77/harness/internal/suggest"
)

// Selection is how a step says which calls a request fault hits.
type Selection struct {
	Match `yaml:",inline"`
	// Nth is the first matching call that is hit; alone it is the only one.
	Nth int `yaml:"nth,omitempty"`
	// Every hits each n-th from there on.
	Every int `yaml:"every,omitempty"`
	Count int `yaml:"count,omitempty"`
}

func (s *Selection) rule(operations ...string) (Rule, error) {
	if err := s.Check(); err != nil {
		return Rule{}, err
	}
	switch {
	case !slices.Contains(operations, s.Operation):
		return Rule{}, errors.New(suggest.Unknown("operation of this fault", s.Operation, operations))
	case s.Nth < 0 || s.Every < 0 || s.Count < 0:
		return Rule{}, errors.New("nth, every and count are counted from 1")
	}
	r := Rule{Match: s.Match, Nth: s.Nth, Every: s.Every, Count: s.Count}
	if s.Nth > 0 && s.Every == 0 && s.Count == 0 {
		r.Count = 1
	}
	return r, nil
}

// settlements are the operations that settle.
func settlements() []string { return []string{Settling, Acking, Requeue, Reject, Extend, Commit} }

// requestKind is what all request faults have in common. They are confirmed by the first
// call that is hit, and heal by calls passing unharmed again.
func requestKind(name, doc string, build func(decode func(any) error) (Rule, error)) Kind {
	return Kind{
		Name: name, Doc: doc, Aim: AtCalls, Patient: true, Unable: anywhere,
		ByHand: "nothing is broken outside of the harness",
		New: func(_ string, decode func(any) error) (Fault, error) {
			rule, err := build(decode)
			return &request{rule}, err
		},
		Refuses: func(f Fault, p Place) string {
			rule := f.(*request).rule
			return rule.Unable(&p.Profile)
		},
		Mentions: func(f Fault) Mentioned { return f.(*request).mentions() },
	}
}

// request is a rule that waits for its time.
type request struct{ rule Rule }

// Inject arms the rule and waits for the first call that it hits.
func (f *request) Inject(ctx context.Context, at Targets) (Heal, error) {
	rule := f.rule
	if rule.To != "" {
		to, err := at.Destination(rule.To)
		if err != nil {
			return nil, err
		}
		rule.To = to.Name
	}
	requests, err := at.Requests()
	if err != nil {
		return nil, err
	}
	armed := requests.Arm(rule)
	if err := armed.Struck(ctx); err != nil {
		_ = armed.Heal(ctx)
		return nil, fmt.Errorf("%w: no %s", ErrNotActive, rule.missed())
	}
	if !rule.Action.HoldRequest && !rule.Action.HoldAnswer {
		at.Until(armed.Spent)
	}
	return armed.Heal, nil
}

func (f *request) mentions() Mentioned {
	m := Mentioned{Label: f.rule.label()}
	if f.rule.By != "" {
		m.Clients = append(m.Clients, f.rule.By)
	}
	if f.rule.To != "" {
		m.Destinations = append(m.Destinations, f.rule.To)
	}
	again := f.rule.Action.Again
	if m.Across = again != nil; m.Across && again.To != "" {
		m.Clients = append(m.Clients, again.To)
	}
	return m
}

// missed says what did not come.
func (r *Rule) missed() string {
	if r.Action.Again != nil {
		return r.label() + " was given again"
	}
	return r.label() + " came"
}

// label says which calls are meant: "publish by p0".
func (m *Match) label() string {
	words := []string{m.Operation}
	for _, w := range []struct{ before, word string }{{"of", m.ID}, {"of", m.Key}, {"by", m.By}, {"at", m.To}} {
		if w.word != "" {
			words = append(words, w.before, w.word)
		}
	}
	return strings.Join(words, " ")
}

// notNegative refuses a duration that would turn time back.
func notNegative(all ...time.Duration) error {
	for _, d := range all {
		if d < 0 {
			return fmt.Errorf("%s is negative", d)
		}
	}
	return nil
}

// askedFirst refuses to select a receive by the message that only its answer tells.
func askedFirst(r *Rule) error {
	if r.Operation == Receive && (r.ID != "" || r.Key != "" || len(r.Entries) > 0) {
		return errors.New("a receive that is not answered yet has no id or key, and no entries")
	}
	return nil
}
