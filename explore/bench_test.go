// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"testing"

	"github.com/seed-720a3c77/harness/contract/profiles"
	"github.com/seed-720a3c77/harness/faults"
	"github.com/seed-720a3c77/harness/internal/testenv"
	"github.com/seed-720a3c77/harness/workloads"
)

// BenchmarkSeed is one seed from workload to verdict: plan, run, record, check. An
// operation is a seed.
func BenchmarkSeed(b *testing.B) {
	for _, c := range []struct{ workload, variant, profile string }{
		{"checkout-30s-45s", "plain", "sqs"},
		{"checkout-30s-45s", "idempotent", "sqs"},
		{"crash-mid-batch", "after-batch", "kafka"},
	} {
		b.Run(c.workload+"/"+c.variant+"/"+c.profile, func(b *testing.B) {
			doc, err := workloads.Find(c.workload)
			if err != nil {
				b.Fatal(err)
			}
			profile, err := profiles.Named(c.profile)
			if err != nil {
				b.Fatal(err)
			}
			s := Space{Document: doc, Variant: c.variant, Profile: profile, Faults: []faults.Kind{faults.Kill(), faults.Start()}}
			l, err := s.lab()
			if err != nil {
				b.Fatal(err)
			}
			seed := uint64(0)
			b.ReportAllocs()
			before := testenv.CPUTime()
			for b.Loop() {
				seed++
				if _, err := l.try(seed); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(testenv.CPUTime()-before)/float64(b.N), "cpu-ns/op")
		})
	}
}
