// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"fmt"
	"strconv"

	"github.com/goccy/go-yaml"

	"github.com/seed-720a3c77/harness/contract"
)

// MarshalYAML writes the duration with its unit.
func (d Duration) MarshalYAML() (any, error) { return d.String(), nil }

// MarshalYAML writes the rate with its unit.
func (r Rate) MarshalYAML() (any, error) {
	if r == 0 {
		return "max", nil
	}
	return strconv.FormatFloat(float64(r), 'f', -1, 64) + "/s", nil
}

// MarshalYAML writes bytes.
func (s Size) MarshalYAML() (any, error) { return int(s), nil }

// MarshalYAML writes the step's trigger, verb and target. What a fault needs beside them
// is kept from its source.
func (s Step) MarshalYAML() (any, error) {
	step := yaml.MapSlice{}
	add := func(key string, value any) { step = append(step, yaml.MapItem{Key: key, Value: value}) }
	switch t := s.Trigger; {
	case t.Point+t.Operation+t.Fault != "":
		add("at", pointOf(t))
	case t.Timed && t.Following:
		add("after", t.After)
	default:
		add("at", t.At)
	}
	if s.Repeat != (Repeat{}) {
		add("repeat", s.Repeat)
	}
	add("do", s.Do)
	if s.Target != "" {
		add("target", s.Target)
	}
	if s.For > 0 {
		add("for", s.For)
	}
	for _, p := range pairs(s.Node) {
		if key := keyText(p); !stepWords[key] {
			add(key, yaml.MapItem{Key: key, Value: p.Value}.Value)
		}
	}
	return step, nil
}

func pointOf(t Trigger) yaml.MapSlice {
	point := yaml.MapSlice{}
	for _, w := range []struct{ key, word string }{
		{"worker", t.Worker}, {"point", t.Point}, {"operation", t.Operation}, {"by", t.By}, {"to", t.To},
		{"id", t.ID}, {"key", t.Key}, {"fault", t.Fault}, {"state", t.State},
	} {
		if w.word != "" {
			point = append(point, yaml.MapItem{Key: w.key, Value: w.word})
		}
	}
	if t.N > 0 {
		point = append(point, yaml.MapItem{Key: "n", Value: t.N})
	}
	return point
}

// MarshalYAML writes claims by variant.
func (c Claims) MarshalYAML() (any, error) {
	rows := yaml.MapSlice{}
	for _, row := range c {
		rows = append(rows, yaml.MapItem{Key: orAny(row.Variant), Value: row.Claims})
	}
	return rows, nil
}

// MarshalYAML writes expectations by variant, a row each.
func (x Expect) MarshalYAML() (any, error) {
	rows := map[string][]yaml.MapSlice{}
	var order []string
	for _, e := range x {
		key := orAny(e.Variant)
		if rows[key] == nil {
			order = append(order, key)
		}
		rows[key] = append(rows[key], rowOf(e.Expectation))
	}
	all := yaml.MapSlice{}
	for _, key := range order {
		all = append(all, yaml.MapItem{Key: key, Value: rows[key]})
	}
	return all, nil
}

func rowOf(e contract.Expectation) yaml.MapSlice {
	row := yaml.MapSlice{}
	add := func(key string, value any) { row = append(row, yaml.MapItem{Key: key, Value: value}) }
	if e.Profile != "" {
		add("profile", e.Profile)
	}
	if e.Fidelity != "" {
		add("fidelity", e.Fidelity)
	}
	if e.Verdict != contract.Unjudged {
		add(e.Metric, e.Verdict.String())
		return row
	}
	limits := yaml.MapSlice{}
	if e.Min != nil {
		limits = append(limits, yaml.MapItem{Key: "min", Value: *e.Min})
	}
	if e.Max != nil {
		limits = append(limits, yaml.MapItem{Key: "max", Value: *e.Max})
	}
	if len(e.IDs) > 0 {
		limits = append(limits, yaml.MapItem{Key: "ids", Value: e.IDs})
	}
	add(e.Metric, limits)
	return row
}

func orAny(variant string) string {
	if variant == "" {
		return "any"
	}
	return variant
}

// ForVariant returns a copy that stands on its own: the claims and expectations of its
// variant apply to all.
func (s *Spec) ForVariant() *Spec {
	alone := *s
	alone.Claims = Claims{{Claims: s.Claimed()}}
	alone.Expect, alone.Budgets = nil, nil
	for _, e := range s.Expected() {
		alone.Expect = append(alone.Expect, VariantExpectation{Expectation: e})
	}
	for _, b := range s.Budgets {
		if applies(b.Variant, s.Variant) {
			alone.Budgets = append(alone.Budgets, VariantExpectation{Expectation: b.Expectation})
		}
	}
	alone.Variant = ""
	return &alone
}

// Encode writes the workload as a file that Parse reads back. The text begins with the
// given comment lines.
func Encode(s *Spec, comments ...string) ([]byte, error) {
	text, err := yaml.MarshalWithOptions(s, yaml.Flow(false), yaml.OmitZero())
	if err != nil {
		return nil, fmt.Errorf("encode workload %s: %w", s.Name, err)
	}
	var head []byte
	for _, c := range comments {
		head = append(head, "# "+c+"\n"...)
	}
	return append(head, text...), nil
}
