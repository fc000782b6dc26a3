// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"pgregory.net/rapid"
)

// TestSamplesAreCountedAsTheLibraryDoes: in the same buckets, few or many, in one or merged.
func TestSamplesAreCountedAsTheLibraryDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := hdr.New(latencyLowest, latencyHighest, latencyDigits)
		var got, other samples
		edges := rapid.OneOf(rapid.Int64Range(0, 5000), rapid.Int64Range(0, latencyHighest), rapid.Just(int64(latencyHighest)),
			rapid.Map(rapid.IntRange(0, 41), func(n int) int64 { return 1<<n - 1 }), rapid.Map(rapid.IntRange(0, 41), func(n int) int64 { return 1 << n }))
		for n, ns := range rapid.SliceOfN(edges, 1, 3*fewSamples).Draw(t, "ns") {
			if err := want.RecordValue(ns); err != nil {
				t.Fatal(err)
			}
			if n%3 == 0 {
				other.record(ns)
			} else {
				got.record(ns)
			}
		}
		got.merge(&other)
		if h := got.histogram(); !h.Equals(want) {
			t.Fatalf("%d samples, quantiles %v, want %d, %v", h.TotalCount(), curve(h), want.TotalCount(), curve(want))
		}
	})
}
