// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"slices"
)

// This file has the kinds "kgo" and "offset-ranges" of a verifier that writes each
// record's own offset into it.

// judgeKgo is the kind "kgo": rows are [offset, leader epoch, offset that the record says
// it has or null], "valid" lists the offsets that are known to be acked. A record that does
// not say its own offset is an invalid read where the offset is known to be acked, and out
// of scope elsewhere. Offsets rise, leader epochs do not fall; the source stops there.
func judgeKgo(c *Case, rules Rules) (Figures, error) {
	rows, err := c.rows()
	if err != nil {
		return nil, err
	}
	var valid []float64
	if err := c.field("valid", &valid); err != nil {
		return nil, err
	}
	k := reading{valid: valid, offset: none, highest: none}
	for _, r := range rows {
		if k.read(r, rules); k.err != nil {
			break
		}
	}
	f := Figures{"valid": k.good, "invalid": k.bad, "oos": k.outside, "max": k.highest, "err": k.err}
	return f, nil
}

type reading struct {
	valid              []float64
	offset, epoch      float64
	highest            float64
	good, bad, outside int
	err                any
}

// words for what ends a reading; others write them differently.
var (
	badRead    = either{"bad-read", "bad-offset", "invalid-read"}
	outOfOrder = either{"out-of-order", "out-of-order-read", "nonmonotonic"}
	epochBack  = either{"epoch", "leader-epoch", "epoch-regression", "leader-epoch-regression", "out-of-order-epoch", "out-of-order-leader-epoch",
		"epoch-out-of-order", "nonmonotonic-epoch"}
)

func (k *reading) read(r row, rules Rules) {
	offset, epoch := r.number(0), r.number(1)
	switch {
	case epoch < k.epoch && rules.has("kgo:epoch"):
		k.err = epochBack
		return
	case offset <= k.offset && rules.has("kgo:order"):
		k.err = outOfOrder
		return
	}
	says, told := r.at(2).(float64)
	switch {
	case told && says == offset:
		k.good++
		k.highest = max(k.highest, offset)
	case slices.Contains(k.valid, offset) && rules.has("kgo:bad-read"):
		k.bad++
		k.err = badRead
	default:
		k.outside++
	}
	k.offset, k.epoch = offset, epoch
}

// judgeRanges is the kind "offset-ranges": acked offsets in order become ranges, the end
// not included. A lower offset than before is out of order, unless the client tolerates
// lost data: then everything that was acked at it and above is forgotten.
func judgeRanges(c *Case, rules Rules) (Figures, error) {
	var offsets []int64
	var tolerate bool
	if err := c.field("h", &offsets); err != nil {
		return nil, err
	}
	if err := c.field("tolerate", &tolerate); err != nil {
		return nil, err
	}
	ranges := [][2]int64{}
	for _, off := range offsets {
		if n := len(ranges); n > 0 && off < ranges[n-1][1] {
			if !tolerate && rules.has("offset-ranges:order") {
				return Figures{"ranges": ranges, "err": outOfOrder, "error": outOfOrder, "panic": true, "valid": false}, nil
			}
			ranges = forget(ranges, off)
		}
		if n := len(ranges); n > 0 && ranges[n-1][1] == off {
			ranges[n-1][1]++
			continue
		}
		ranges = append(ranges, [2]int64{off, off + 1})
	}
	return Figures{"ranges": ranges, "err": nil, "error": nil, "panic": false, "valid": true}, nil
}

// forget drops an offset and everything above it.
func forget(ranges [][2]int64, from int64) [][2]int64 {
	for i := range ranges {
		switch {
		case from < ranges[i][0]:
			return ranges[:i]
		case from < ranges[i][1]:
			ranges[i][1] = from
			return ranges[:i+1]
		}
	}
	return ranges
}
