// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/internal/suggest"
)

// UnmarshalYAML reads a mapping from variant ("any" for all) to a row or a list of rows.
// A row has metrics with a number, {min, max}, {ids} or a verdict, and may be restricted
// by profile (a prefix of its name) and fidelity.
func (x *Expect) UnmarshalYAML(n ast.Node) error {
	if asMapping(n) == nil {
		return lineError(n, "expect wants variants (or any) with rows")
	}
	for _, p := range pairs(n) {
		rows := []ast.Node{p.Value}
		if list, ok := p.Value.(*ast.SequenceNode); ok {
			rows = list.Values
		}
		for _, row := range rows {
			if err := x.row(keyText(p), row); err != nil {
				return err
			}
		}
	}
	return nil
}

func (x *Expect) row(variant string, row ast.Node) error {
	profile, fidelity := textOf(row, "profile"), textOf(row, "fidelity")
	if !slices.Contains([]string{"", "virtual", "real"}, fidelity) {
		return lineError(row, "fidelity is virtual or real, not %q", fidelity)
	}
	for _, p := range pairs(row) {
		metric := keyText(p)
		if metric == "profile" || metric == "fidelity" {
			continue
		}
		if err := knownCause(p.Value, metric); err != nil {
			return err
		}
		e := contract.Expectation{Metric: metric, Profile: profile, Fidelity: fidelity}
		if err := bound(&e, p.Value); err != nil {
			return err
		}
		*x = append(*x, VariantExpectation{variant, e})
	}
	return nil
}

func bound(e *contract.Expectation, n ast.Node) error {
	if strings.HasPrefix(e.Metric, "verdict.") {
		if err := e.Verdict.UnmarshalText([]byte(scalar(n))); err != nil {
			return lineError(n, "%q is not a verdict", scalar(n))
		}
		return nil
	}
	if asMapping(n) == nil {
		exact, err := strconv.ParseInt(scalar(n), 10, 64)
		if err != nil || exact < 0 {
			return lineError(n, "%s: %q is not a count; write 3, {min: 1} or {ids: [p0/3]}", e.Metric, scalar(n))
		}
		e.Min, e.Max = &exact, &exact
		return nil
	}
	var limits struct {
		Min *int64   `yaml:"min,omitempty"`
		Max *int64   `yaml:"max,omitempty"`
		IDs []string `yaml:"ids,omitempty"`
	}
	if err := decodeNode(n, &limits); err != nil {
		return err
	}
	if limits.Min != nil && *limits.Min < 0 || limits.Max != nil && *limits.Max < 0 {
		return lineError(n, "%s: a count is not negative", e.Metric)
	}
	if limits.Min == nil && limits.Max == nil && len(limits.IDs) == 0 {
		return lineError(n, "%s: nothing bounds it; write 3, {min: 1}, {max: 5} or {ids: [p0/3]}", e.Metric)
	}
	e.Min, e.Max, e.IDs = limits.Min, limits.Max, limits.IDs
	return nil
}

// applies tells whether a key of claims or expect selects a variant: every part of the
// key is a part of the variant's name.
func applies(key, variant string) bool {
	if key == "" || key == "any" {
		return true
	}
	parts := strings.Split(variant, "+")
	for part := range strings.SplitSeq(key, "+") {
		if !slices.Contains(parts, part) {
			return false
		}
	}
	return true
}

// reaches refuses a key of claims, expect or budgets that selects no variant: nobody would
// ever be asked for what stands under it.
func (d *Document) reaches(s *Spec) error {
	var keys []string
	for _, row := range s.Claims {
		keys = append(keys, row.Variant)
	}
	for _, row := range slices.Concat(s.Expect, Expect(s.Budgets)) {
		keys = append(keys, row.Variant)
	}
	for _, key := range keys {
		if !slices.ContainsFunc(d.variants, func(v variant) bool { return applies(key, v.name) }) {
			return fmt.Errorf("%s: %s", d.File, suggest.Unknown("variant", key, append(d.Variants(), "any")))
		}
	}
	return nil
}

// Claimed are the claims of the variant.
func (s *Spec) Claimed() []contract.Claim {
	var claims []contract.Claim
	for _, row := range s.Claims {
		if applies(row.Variant, s.Variant) {
			claims = append(claims, row.Claims...)
		}
	}
	return claims
}

// Expected are the expectations of the variant, for every profile and fidelity.
func (s *Spec) Expected() []contract.Expectation {
	var all []contract.Expectation
	for _, row := range s.Expect {
		if applies(row.Variant, s.Variant) {
			all = append(all, row.Expectation)
		}
	}
	return all
}
