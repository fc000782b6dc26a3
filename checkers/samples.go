// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"math/bits"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

const (
	latencyLowest  = 1                 // ns
	latencyHighest = 3_600_000_000_000 // 1 h
	latencyDigits  = 3
	// fewSamples are kept as they are: a histogram is large, and most runs are small. In a
	// large run they go into it together, which is faster than one by one.
	fewSamples = 256
)

// samples are durations, with what is out of range counted apart.
type samples struct {
	few                []int64
	counts             []int64 // by bucket of a histogram, of those that few had no room for
	overflow, negative int64
}

// record tests the range first: the library's answer to a value outside it is an
// allocation, and the count is wanted.
func (s *samples) record(ns int64) {
	switch {
	case ns < 0:
		s.negative++
	case ns > latencyHighest:
		s.overflow++
	default:
		if len(s.few) == fewSamples {
			s.many()
		}
		s.few = append(s.few, ns)
	}
}

// many counts the samples by bucket.
func (s *samples) many() {
	if s.counts == nil {
		s.counts = make([]int64, bucketIn(latencyHighest)+1)
	}
	for _, ns := range s.few {
		s.counts[bucketIn(ns)]++
	}
	s.few = s.few[:0]
}

// halfBits is how many bits of a duration tell its bucket within an octave: of three
// digits every octave has 1,024.
const halfBits = 10

// bucketIn is the number of a duration's bucket as the library counts them. It knows that
// the lowest value is 1, which makes it several times faster than asking the library.
func bucketIn(ns int64) int {
	octave := bits.Len64(uint64(ns)>>halfBits|1) - 1
	return octave<<halfBits + int(ns>>octave)
}

// histogram is of all samples.
func (s *samples) histogram() *hdr.Histogram {
	s.many()
	return hdr.Import(&hdr.Snapshot{
		LowestTrackableValue: latencyLowest, HighestTrackableValue: latencyHighest, SignificantFigures: latencyDigits, Counts: s.counts,
	})
}

func (s *samples) merge(other *samples) {
	s.overflow += other.overflow
	s.negative += other.negative
	if other.counts != nil {
		s.many()
		for i, n := range other.counts {
			s.counts[i] += n
		}
	}
	for _, ns := range other.few {
		s.record(ns)
	}
}

func (s *samples) empty() bool { return s.counts == nil && len(s.few) == 0 }

// quantile is 0 where there are none.
func (s *samples) quantile(percent float64) int64 {
	if s.empty() {
		return 0
	}
	return s.histogram().ValueAtQuantile(percent)
}

// figures reads them; any is false where there was no sample at all.
func (s *samples) figures() (l Latency, any bool) {
	if s.empty() {
		return Latency{Overflow: s.overflow, Negative: s.negative}, s.overflow+s.negative > 0
	}
	h := s.histogram()
	l = Latency{
		Count: h.TotalCount(), MinNs: h.Min(), MaxNs: h.Max(),
		P50Ns: h.ValueAtQuantile(50), P90Ns: h.ValueAtQuantile(90), P99Ns: h.ValueAtQuantile(99), P999Ns: h.ValueAtQuantile(99.9),
		Overflow: s.overflow, Negative: s.negative,
		Curve: curve(h),
	}
	if packed, err := h.EncodeV2(); err == nil {
		l.HDR = string(packed)
	}
	return l, true
}

// curveShares are the points of a percentile curve, for an axis of log 1/(1-p).
var curveShares = [...]float64{0, 10, 20, 30, 40, 50, 60, 70, 75, 80, 85, 90, 92.5, 95, 96.25, 97.5, 98, 99,
	99.25, 99.5, 99.75, 99.9, 99.925, 99.95, 99.975, 99.99, 99.995, 99.999, 100}

func curve(h *hdr.Histogram) []Percentile {
	total := h.TotalCount()
	var points []Percentile
	for _, share := range curveShares {
		at := int64(float64(total) * share / 100)
		points = append(points, Percentile{Share: share / 100, Ns: h.ValueAtQuantile(share), Count: at})
		if total-at < 1 {
			break
		}
	}
	return points
}
