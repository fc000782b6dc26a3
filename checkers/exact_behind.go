// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"cmp"
	"slices"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

// knowledge is that an offset existed at an instant.
type knowledge struct {
	at, offset int64
	op         *logOp
}

// behindKnown are sends that were stored at or before an offset that somebody had been told
// of, or had read, when they began. A second attempt may be answered with where the first
// stands. Times of several hosts cannot be compared, so that imported histories are not
// looked at.
func behindKnown(a *analysis) (all []LogFinding) {
	if a.c.header.Tool == imported {
		return nil
	}
	known, tried := a.knowledge(), map[msg.ID]bool{}
	for _, op := range a.ops {
		for _, s := range op.sends {
			again := tried[s.id]
			tried[s.id] = true
			before := highestBefore(known[s.place], op.start)
			if again || op.class != contract.OK || s.off < 0 || before == nil || before.offset < s.off {
				continue
			}
			f := a.found(writeBehind, s.place, s.id, before.op, op)
			f.Offset, f.Offsets = s.off, []int64{before.offset, s.off}
			all = append(all, f)
		}
	}
	return all
}

// imported is the tool of a history that another one recorded.
const imported = "imported"

// knowledge lists by place, in time, every offset that was higher than all before it. Of a
// poll only the first record came when it ended.
func (a *analysis) knowledge() map[uint32][]knowledge {
	all := map[uint32][]knowledge{}
	note := func(op *logOp, place uint32, offset int64) {
		if offset >= 0 && place != 0 {
			all[place] = append(all[place], knowledge{op.end, offset, op})
		}
	}
	for _, op := range a.ops {
		if op.class == contract.OK {
			for _, s := range op.sends {
				note(op, s.place, s.off)
			}
		}
		for i, r := range op.reads {
			if op.txn || i == 0 {
				note(op, r.place, r.off)
			}
		}
	}
	for place := range all {
		all[place] = rising(all[place])
	}
	return all
}

func rising(all []knowledge) (kept []knowledge) {
	slices.SortStableFunc(all, func(x, y knowledge) int { return cmp.Compare(x.at, y.at) })
	for _, k := range all {
		if len(kept) == 0 || k.offset > kept[len(kept)-1].offset {
			kept = append(kept, k)
		}
	}
	return kept
}

// highestBefore is the highest offset that was known before an instant, nil for none.
func highestBefore(known []knowledge, at int64) *knowledge {
	i, _ := slices.BinarySearchFunc(known, at, func(k knowledge, at int64) int { return cmp.Compare(k.at, at) })
	if i == 0 {
		return nil
	}
	return &known[i-1]
}
