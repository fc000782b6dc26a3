// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

// This file is about logs that nobody subscribes to: every reader reads what it likes, from
// where it likes. Nothing is owed to any of them, so that a message is lost once what
// stands behind it was read and it was not, and undrained if nobody got that far.

// alone tells what producers were told and what became of it.
func (a *analysis) alone(f *Facts) {
	if len(a.c.subs) > 0 {
		return
	}
	f.measure(undrained, lostWrite)
	behind := a.lostIDs()
	for _, op := range a.ops {
		for _, s := range op.sends {
			if a.writer[s.id] == op {
				a.told(f, op, s.id, behind[s.id])
			}
		}
		f.exposure.delivered += int64(len(op.reads))
	}
}

func (a *analysis) lostIDs() map[msg.ID]bool {
	ids := map[msg.ID]bool{}
	for _, f := range lostWrites(a) {
		ids[f.ID] = true
	}
	return ids
}

func (a *analysis) told(f *Facts, op *logOp, id msg.ID, lost bool) {
	told := &a.c.unsubscribed
	told.byClass[op.class]++
	switch {
	case a.okRead[id] && op.class == contract.Unknown:
		told.recovered++
		a.noted(f, recovered, op, id, "published without a clear answer, and read")
	case a.okRead[id], op.class != contract.OK, lost:
	default:
		a.noted(f, undrained, op, id, "nobody read so far")
	}
}

func (a *analysis) noted(f *Facts, r row, op *logOp, id msg.ID, text string) {
	if x := f.add(r, op.start, op.end); x != nil {
		x.ID, x.AtNs, x.Text = id, op.end, text
	}
}
