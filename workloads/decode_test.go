// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"maps"
	"strings"
	"testing"
)

const small = `name: small
about: A test.
topology: {orders: {partitions: 1, lease: 4s}}
produce: [{to: orders, count: 10, rate: 100/s}]
consume: [{from: orders, group: billing, settle: {when: after-handler}}]
claims: at-least-once
`

func TestEveryEmbeddedWorkloadDecodes(t *testing.T) {
	for _, name := range Names() {
		doc, err := Find(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if doc.Name != name || !strings.HasSuffix(doc.About, ".") {
			t.Errorf("%s: name %q, about %q", name, doc.Name, doc.About)
		}
	}
}

func TestBadInputNamesTheLineAndTheNearestWord(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"group: billing", "grup: billing", `small.yaml:5: unknown key "grup"; did you mean "group"? (in workload.consume[])`},
		{"from: orders", "from: order", `unknown destination "order"; did you mean "orders"?`},
		{"when: after-handler", "when: after-handlers", `unknown settle.when "after-handlers"; did you mean "after-handler"?`},
		{"claims: at-least-once", "claims: at-least-one", `small.yaml:6: unknown claim "at-least-one"; did you mean "at-least-once"?`},
		{"lease: 4s", "lease: 4", `small.yaml:3: "4" is not a duration; write it with a unit`},
		{"lease: 4s", "lease: 2562047h", `small.yaml:3: "2562047h" is longer than 720h`},
		{"rate: 100/s", "rate: 0.0000001/s", `small.yaml:4: "0.0000001/s" is less than 0.001/s`},
		{"rate: 100/s", "rate: 100/s, keys: 1000000001", `at most 1000000 keys and 1000 producers`},
		{"rate: 100/s", "rate: 100", `small.yaml:4: "100" is not a rate`},
		{"rate: 100/s", "rate: 100/h", `unknown unit "h"`},
		{"count: 10", "count: 0", `count from 1 to`},
		{"count: 10", "count: 4611686018427387904, producers: 4", `count from 1 to`},
		{"partitions: 1", "fan-out: []", `small.yaml:3: topology.orders: fan-out wants a queue or more`},
		{"partitions: 1", "fan-out: [a, a]", `small.yaml:3: there are two destinations named "a"`},
		{"partitions: 1", "dead-letter: orders", `dead-letter and retry-of name another destination`},
		{"{orders: {", "{'or/ders': {}, orders: {", `a destination is named by letters, digits, '-', '_' and '.', at most 64, not by "or/ders"`},
		{"group: billing", "group: ''", `a group is named by letters`},
		{"group: billing", "group: a/b", `a group is named by letters`},
		{"consume: [", "consume: [{from: orders, group: billing, settle: {when: never}}, ", `small.yaml:5: there are two groups named "billing"`},
		{"claims:", "expect: {any: {lost: {}}}\nclaims:", `small.yaml:6: lost: nothing bounds it`},
		{"claims:", "expect: {lost: {max: 3}}\nclaims:", `small.yaml: unknown variant "lost"`},
		{"claims: at-least-once", "variants: {settle: [a, b]}\nclaims: {a: at-least-once, bb: drained}", `small.yaml: unknown variant "bb"; did you mean "b"?`},
		{"claims:", "budgets: {b: {redelivered: 3}}\nclaims:", `small.yaml: unknown variant "b"`},
		{"claims:", "variants: {v: {a: {timeline: []}}}\nclaims:", `an empty list changes nothing`},
		{"produce: [", "produce: {", `small.yaml: `},
		{"claims: at-least-once\n", "", `claims nothing`},
		{"claims:", "timeline: [{at: 1s}]\nclaims:", `small.yaml:6: a step wants do`},
		{"claims:", "variants: {settle: [a]}\nneeds: [$sett]\nclaims:", `unknown axis "$sett"; did you mean "settle"?`},
		{"name: small", "name: small\nname: other", `already defined`},
		{"name: small", `name: "a\e[31mb"`, `name wants a short kebab-case word, got "a\x1b[31mb"`},
		{"name: small", "name: ../small", `name wants a short kebab-case word`},
		{small, "", `small.yaml: the file is empty`},
		{small, "# nothing\n", `small.yaml: the file is empty`},
		{small, small + "---\n" + small, `want one YAML document, got 2`},
	} {
		_, err := Parse("small.yaml", []byte(strings.Replace(small, c.old, c.new, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q for %q: got %v\nwant %s", c.new, c.old, err, c.want)
		}
	}
}

// TestNoValueIsBent: what is no value of its key's type is refused, and never made to fit.
func TestNoValueIsBent(t *testing.T) {
	for wants, values := range map[string][]string{
		"a whole number in digits": {
			"count: 2.5", "count: ten", "count: 1e3", "count: 10.0", "count: '10'", "count: 010", "count: 0x10", "count: 1_000", "count: +10", "count: .inf",
			"count: true", "count: [1]", "count: {a: 1}", "count: 99999999999999999999", "count: 1, keys: 2.5",
		},
		"has no value":  {"count: ", "count: ~", "count: null", "count: 1, acks: "},
		"true or false": {"count: 1, mandatory: 1", "count: 1, mandatory: yes", "count: 1, mandatory: 'true'"},
		"a text":        {"count: 1, acks: 1.0", "count: 1, acks: 01", "count: 1, acks: [all]", "count: 1, acks: {}"},
	} {
		for _, value := range values {
			_, err := Parse("small.yaml", []byte(strings.Replace(small, "count: 10", value, 1)))
			if err == nil || !strings.HasPrefix(err.Error(), "small.yaml:4: workload.produce[].") || !strings.Contains(err.Error(), wants) {
				t.Errorf("%s: got %v, want %s", value, err, wants)
			}
		}
	}
	doc, err := Parse("small.yaml", []byte(strings.Replace(small, "partitions: 1", "native: {a: 5, b: 0.5, c: true, d: '010', e: -1, f: 010x}", 1)))
	if err != nil {
		t.Fatal(err)
	}
	spec, _ := doc.Spec("")
	want := map[string]string{"a": "5", "b": "0.5", "c": "true", "d": "010", "e": "-1", "f": "010x"}
	if got := spec.Topology["orders"].Native; !maps.Equal(got, want) {
		t.Errorf("texts %v, want %v", got, want)
	}
}

func TestVariantsMultiplyAndMerge(t *testing.T) {
	source := strings.Replace(small, "group: billing, settle: {when: after-handler}", "group: billing, settle: {when: $settle}", 1) + `variants:
  settle: [after-handler, after-batch]
  effect: {plain: {consume: [{effect: plain}]}, upsert: {consume: [{effect: {mode: upsert}, workers: 3}]}}
`
	doc, err := Parse("small.yaml", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(doc.Variants(), " "); got != "after-handler+plain after-handler+upsert after-batch+plain after-batch+upsert" {
		t.Fatalf("variants: %s", got)
	}
	spec, err := doc.Spec("after-batch+upsert")
	if err != nil {
		t.Fatal(err)
	}
	c := spec.Consume[0]
	if c.Settle.When != "after-batch" || c.Effect.Mode != "upsert" || c.Workers != 3 || c.Group != "billing" {
		t.Errorf("consume: %+v", c)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte("variants: {a: [1]}\nname: x"))
	f.Fuzz(func(_ *testing.T, source []byte) {
		doc, err := Parse("fuzz.yaml", source)
		if err == nil {
			_ = doc.Variants()
		}
	})
}
