// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"reflect"
	"testing"
)

// TestEncodeReadsBack: what is written is read back as the same workload.
func TestEncodeReadsBack(t *testing.T) {
	for _, name := range Names() {
		doc, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, variant := range doc.Variants() {
			spec, err := doc.Spec(variant)
			if err != nil {
				t.Fatal(err)
			}
			want := spec.ForVariant()
			text, err := Encode(want, "a comment")
			if err != nil {
				t.Fatal(err)
			}
			again, err := Parse("again.yaml", text)
			if err != nil {
				t.Fatalf("%s %s: %v\n%s", name, variant, err, text)
			}
			got, _ := again.Spec("")
			if !same(want, got.ForVariant()) {
				t.Errorf("%s %s is read back differently:\n%s", name, variant, text)
			}
		}
	}
}

// same compares what a workload says, not where it stood.
func same(a, b *Spec) bool {
	x, y := *a, *b
	x.Source, y.Source = "", ""
	x.Timeline, y.Timeline = bare(x.Timeline), bare(y.Timeline)
	return reflect.DeepEqual(x, y)
}

func bare(steps []Step) []Step {
	var all []Step
	for _, s := range steps {
		all = append(all, Step{Trigger: s.Trigger, Do: s.Do, Target: s.Target})
	}
	return all
}
