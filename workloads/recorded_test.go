// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"reflect"
	"slices"
	"testing"
)

// TestRecordedIsWhatWasRun: the text that goes into a run's manifest is YAML and says the
// same as the workload and variant that it came from.
func TestRecordedIsWhatWasRun(t *testing.T) {
	for _, name := range slices.Concat(Names(), Others()) {
		doc, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, variant := range doc.Variants() {
			ran, err := doc.Spec(variant)
			if err != nil {
				t.Fatal(err)
			}
			again, err := Recorded(name, variant, []byte(ran.Source))
			if err != nil {
				t.Errorf("%s %s: %v\n%s", name, variant, err, ran.Source)
				continue
			}
			if !reflect.DeepEqual(plain(ran), plain(again)) {
				t.Errorf("%s %s is recorded as\n%s", name, variant, ran.Source)
			}
		}
	}
}

// plain leaves out where in the text things stand.
func plain(s *Spec) Spec {
	p := *s
	p.Source = ""
	p.Timeline = slices.Clone(s.Timeline)
	for i := range p.Timeline {
		p.Timeline[i].Node, p.Timeline[i].Line = nil, 0
	}
	return p
}
