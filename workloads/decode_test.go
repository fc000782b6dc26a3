// SPDX-License-Identifier: Apache-2.0

package workloads

import (
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
		{"count: 10", "count: ten", `small.yaml:4: `},
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
