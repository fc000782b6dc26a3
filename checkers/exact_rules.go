// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"fmt"
	"maps"
	"slices"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

// exactRows are the rows of exactLog.
var exactRows = []row{inconsistentOffset, duplicateInLog, lostWrite, tornTransaction, abortedRead, precommittedRead,
	pollSkip, nonmonotonicPoll, nonmonotonicSend, writeBehind, sendSkip, writeCycle, readCycle}

// LogFinding is one finding about a log.
type LogFinding struct {
	// Rule is the name of its row. Internal tells that it lies within one operation.
	Rule     string
	Internal bool
	// Place is the partition, as in "orders/0"; empty where it is about several.
	Place string
	// ID is the message that it is about, IDs are the two that were compared or the ones
	// that stand at one offset, Skipped what lies between.
	ID      msg.ID
	IDs     []msg.ID
	Skipped []msg.ID
	Offset  int64
	Offsets []int64
	// Index counts observed offsets; MaxIndex is the highest one that was read.
	Index, MaxIndex int
	Delta           int
	// Ops are the numbers of the transactions, Writer and Reader those that sent and read
	// the message; 0 is none, or no transaction.
	Ops            []uint32
	Writer, Reader uint32

	row   row
	place uint32
	op    *logOp
	ops   []*logOp
}

// logRules lists the rules in the order in which they are told.
func logRules() []func(*analysis) []LogFinding {
	return []func(*analysis) []LogFinding{
		inconsistentOffsets, duplicatesInLog, lostWrites, abortedReads, precommittedReads, internalPolls, internalSends, polls, sends, behindKnown, cycles,
	}
}

// found makes a finding about operations; the last of them is when it came to light.
func (a *analysis) found(r row, place uint32, id msg.ID, ops ...*logOp) LogFinding {
	f := LogFinding{Rule: table[r].Name, ID: id, row: r, place: place, ops: ops, op: ops[len(ops)-1]}
	if place != 0 {
		f.Place = a.c.place(place).text
	}
	for _, op := range ops {
		f.Ops = append(f.Ops, op.number)
	}
	return f
}

func inconsistentOffsets(a *analysis) (all []LogFinding) {
	for _, place := range a.places {
		l := a.logs[place]
		for i, off := range l.offsets {
			ids := l.ids[off]
			if len(ids) < 2 {
				continue
			}
			f := a.found(inconsistentOffset, place, ids[1], a.evidence(ids)...)
			f.IDs, f.Offset, f.Index = slices.SortedFunc(slices.Values(ids), msg.ID.Compare), off, i
			all = append(all, f)
		}
	}
	return all
}

// evidence is one operation for each id: its writer or its first reader.
func (a *analysis) evidence(ids []msg.ID) (ops []*logOp) {
	for _, id := range ids {
		if op := a.writer[id]; op != nil {
			ops = append(ops, op)
			continue
		}
		ops = append(ops, a.readers[id][0])
	}
	return ops
}

func duplicatesInLog(a *analysis) (all []LogFinding) {
	for _, place := range a.places {
		l := a.logs[place]
		at := map[msg.ID][]int64{}
		for _, off := range l.offsets {
			for _, id := range l.ids[off] {
				at[id] = append(at[id], off)
			}
		}
		for _, id := range slices.SortedFunc(maps.Keys(at), msg.ID.Compare) {
			if len(at[id]) > a.allowedCopies(id) {
				f := a.found(duplicateInLog, place, id, a.evidence([]msg.ID{id})...)
				f.Offsets, f.Offset = at[id], at[id][1]
				all = append(all, f)
			}
		}
	}
	return all
}

// allowedCopies is how often the answers let an id be stored, at least once.
func (a *analysis) allowedCopies(id msg.ID) int {
	most := 1
	for _, sub := range a.c.subs {
		known := a.c.load(sub.index, id)
		most = max(most, a.c.mayStore(id, &known))
	}
	return most
}

// lostWrites are messages that were certainly stored before another that somebody read,
// and that nobody read.
func lostWrites(a *analysis) (all []LogFinding) {
	for _, place := range a.places {
		l := a.logs[place]
		bound := -1
		for id, first := range l.first {
			if a.okRead[id] {
				bound = max(bound, first)
			}
		}
		for i := 0; i <= bound; i++ {
			for _, id := range l.ids[l.offsets[i]] {
				if writer := a.writer[id]; l.last[id] == i && !a.okRead[id] && writer != nil && a.committed(writer) {
					all = append(all, a.lost(place, id, bound)...)
				}
			}
		}
	}
	return all
}

func (a *analysis) lost(place uint32, id msg.ID, bound int) []LogFinding {
	l, writer := a.logs[place], a.writer[id]
	reader := a.okReader(l, bound)
	f := a.found(lostWrite, place, id, writer, reader)
	f.Index, f.MaxIndex, f.Writer, f.Reader = l.first[id], bound, writer.number, reader.number
	torn := writer.txn && slices.ContainsFunc(writer.sends, func(s logSend) bool { return a.okRead[s.id] })
	if !torn {
		return []LogFinding{f}
	}
	t := a.found(tornTransaction, place, id, writer, reader)
	t.Writer = writer.number
	return []LogFinding{f, t}
}

// okReader is one that read what stands at an index and went well.
func (a *analysis) okReader(l *placeLog, index int) *logOp {
	for _, id := range l.ids[l.offsets[index]] {
		for _, op := range a.readers[id] {
			if op.class == contract.OK {
				return op
			}
		}
	}
	return a.readers[l.at(index)][0]
}

func abortedReads(a *analysis) (all []LogFinding) {
	for _, op := range a.ops {
		for _, r := range op.reads {
			w := a.writer[r.id]
			if op.class != contract.OK || w == nil || !w.txn || w.class != contract.Rejected {
				continue
			}
			f := a.found(abortedRead, r.place, r.id, w, op)
			f.Writer, f.Reader = w.number, op.number
			all = append(all, f)
		}
	}
	return all
}

func precommittedReads(a *analysis) (all []LogFinding) {
	for _, op := range a.ops {
		for _, r := range op.reads {
			if op.txn && slices.ContainsFunc(op.sends, func(s logSend) bool { return s.id == r.id }) {
				all = append(all, a.found(precommittedRead, r.place, r.id, op))
			}
		}
	}
	return all
}

// words say what a finding is.
func (f *LogFinding) words() string {
	switch f.row {
	case inconsistentOffset:
		return fmt.Sprintf("%s: offset %d holds %v", f.Place, f.Offset, f.IDs)
	case duplicateInLog:
		return fmt.Sprintf("%s: stored at offsets %v", f.Place, f.Offsets)
	case writeBehind:
		return fmt.Sprintf("%s: stored at %d, and %d was known when it was sent", f.Place, f.Offsets[1], f.Offsets[0])
	case lostWrite:
		return fmt.Sprintf("%s: nobody read it, and %d that stand behind it were read", f.Place, f.MaxIndex-f.Index)
	case pollSkip, sendSkip:
		return fmt.Sprintf("%s: from %s to %s past %v", f.Place, f.IDs[0], f.IDs[1], f.Skipped)
	case nonmonotonicPoll, nonmonotonicSend:
		return fmt.Sprintf("%s: from %s back to %s, by %d", f.Place, f.IDs[0], f.IDs[1], 1-f.Delta)
	case writeCycle, readCycle:
		return fmt.Sprintf("a cycle of %d operations", len(f.ops))
	}
	return f.Place
}
