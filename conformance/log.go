// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// judgeLog is the kind "log": operations of several sends and polls on keys with offsets,
// as the Jepsen workload for Kafka records them. Rows are [index, process, type, f, value].
// Every operation becomes a transaction of a native history and the rules of the whole log
// decide; only how long a reader lagged is computed here, from the rows.
func judgeLog(c *Case, rules Rules) (Figures, error) {
	rows, err := c.rows()
	if err != nil {
		return nil, err
	}
	var opt struct{ WW, Lag bool }
	if err := c.field("opt", &opt); err != nil {
		return nil, err
	}
	t, err := tellLog(c.ID, opt.WW)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		if err := t.row(r); err != nil {
			return nil, err
		}
	}
	run, err := t.run()
	if err != nil {
		return nil, err
	}
	report, err := checkers.ExactLog(run, rules.without...)
	if err != nil {
		return nil, err
	}
	for i := range report.Findings {
		rules.note(report.Findings[i].Rule)
	}
	f := t.figures(&report)
	f["valid"] = t.valid(f, opt.WW)
	f["lag"], f["worst_lag"] = lags(rows)
	return f, nil
}

// logTelling writes operations.
type logTelling struct {
	*telling
	indexes []int64 // of the operations, by number
	ids     map[string]msg.ID
	keys    []string
	touched map[uint32][]uint32 // places by session
	acked   int
}

func tellLog(name string, ww bool) (*logTelling, error) {
	// Cases list completions alone: nobody knows when what they complete began.
	h := history.Header{Run: name, Workload: name, Fidelity: "real", Clock: "wall", Tool: "imported",
		Profile: contract.Profile{Name: "log", Model: contract.Log, Order: contract.OrderPartition, Publish: contract.OK, Settle: contract.OK}}
	if ww {
		h.Settings = map[string]string{"ww-deps": "true"}
	}
	t, err := begin(h)
	return &logTelling{telling: t, indexes: []int64{0}, ids: map[string]msg.ID{}, touched: map[uint32][]uint32{}}, err
}

// id is the message that a value of a key stands for.
func (t *logTelling) id(key string, value any) msg.ID {
	name := key + "\x00" + word(value)
	id, known := t.ids[name]
	if !known {
		id = msg.ID{Producer: t.keyNumber(key), Seq: uint64(len(t.ids))}
		t.ids[name], t.values[id] = id, value
	}
	return id
}

func (t *logTelling) keyNumber(key string) uint32 {
	i := slices.Index(t.keys, key)
	if i < 0 {
		i = len(t.keys)
		t.keys = append(t.keys, key)
	}
	return uint32(i)
}

func (t *logTelling) place(key string) uint32 {
	t.keyNumber(key)
	return t.telling.place(key, "0")
}

// ways is how far apart operations are put in time: room for all that one does.
const ways = 1 << 20

func (t *logTelling) row(r row) error {
	index, err := r.whole(0)
	if err != nil {
		return err
	}
	t.at(index * ways)
	session := t.session("process " + word(r.at(1)))
	class, done := classes[r.text(2)]
	if !done {
		return nil // invocations say nothing that the completion does not
	}
	switch r.text(3) {
	case "assign", "subscribe":
		if class != contract.Rejected {
			t.assign(session, r.list(4))
		}
		return nil
	case "send", "poll", "txn":
		return t.operation(session, class, index, r.list(4))
	}
	return nil
}

// classes are what the types of a completion prove.
var classes = map[string]contract.Class{"ok": contract.OK, "info": contract.Unknown, "fail": contract.Rejected}

// assign takes away what a session no longer has.
func (t *logTelling) assign(session uint32, keys row) {
	var kept []uint32
	for i := range keys {
		kept = append(kept, t.place(word(keys.at(i))))
	}
	for _, place := range t.touched[session] {
		if !slices.Contains(kept, place) {
			t.add(history.Event{Kind: history.Revoke, Session: session, Place: place})
		}
	}
}

func (t *logTelling) operation(session uint32, class contract.Class, index int64, micro row) error {
	number := uint32(len(t.indexes))
	t.indexes = append(t.indexes, index)
	if class == contract.OK {
		t.acked++
	}
	t.add(history.Event{Kind: history.TxnBegin, Session: session, Op: number})
	for i := range micro {
		m := micro.list(i)
		switch m.text(0) {
		case "send":
			t.send(session, class, m)
		case "poll":
			t.poll(session, m)
		}
	}
	t.add(history.Event{Kind: history.TxnCommit, Session: session, Op: number, Class: class})
	return nil
}

func (t *logTelling) touch(session, place uint32) {
	if !slices.Contains(t.touched[session], place) {
		t.touched[session] = append(t.touched[session], place)
	}
}

// send is ["send", key, value] or ["send", key, [offset, value]].
func (t *logTelling) send(session uint32, class contract.Class, m row) {
	key, value, off := word(m.at(1)), m.at(2), any(nil)
	if pair := m.list(2); pair != nil {
		off, value = pair.at(0), pair.at(1)
	}
	place, id := t.place(key), t.id(key, value)
	t.touch(session, place)
	op := t.sent(session, id, place, 0)
	t.answered(session, op, id, place, offset(off), class)
}

// poll is ["poll", {key: [[offset, value], ...]}].
func (t *logTelling) poll(session uint32, m row) {
	read, _ := m.at(1).(map[string]any)
	for _, key := range sortedNames(read) {
		pairs, _ := read[key].([]any)
		for i := range pairs {
			pair := row(pairs).list(i)
			place := t.place(key)
			t.touch(session, place)
			t.delivered(session, t.id(key, pair.at(1)), history.Event{Place: place, Off: offset(pair.at(0))})
		}
	}
}

// offset is one that was told, or -1.
func offset(v any) int64 {
	if n, told := v.(float64); told {
		return int64(n)
	}
	return -1
}

// valid tells whether traffic ran and nothing was found but what a log may do: writes in
// between, circles of writes, and circles of reads where those of writes are looked for.
func (t *logTelling) valid(f Figures, ww bool) bool {
	for _, name := range logAnomalies {
		allowed := name == "int-send-skip" || name == "G0" || name == "G1c" && ww
		if !allowed && !nothing(f[name]) {
			return false
		}
	}
	return t.acked > 0
}

// logAnomalies are the names that the source gives to what it finds.
var logAnomalies = []string{"inconsistent-offsets", "duplicate", "lost-write", "G1a", "precommitted-read", "poll-skip", "int-poll-skip",
	"nonmonotonic-poll", "int-nonmonotonic-poll", "nonmonotonic-send", "int-nonmonotonic-send", "int-send-skip", "G0", "G1c", "unseen"}

// logNames map rows to the names of the source; those inside one operation have "int-"
// before them.
var logNames = map[string]string{
	"inconsistent-offset": "inconsistent-offsets", "duplicate-in-log": "duplicate", "lost-write": "lost-write", "aborted-read": "G1a",
	"precommitted-read": "precommitted-read", "poll-skip": "poll-skip", "nonmonotonic-poll": "nonmonotonic-poll",
	"nonmonotonic-send": "nonmonotonic-send", "send-skip": "send-skip", "write-cycle": "G0", "read-cycle": "G1c",
}

func (t *logTelling) figures(r *checkers.LogReport) Figures {
	f := Figures{}
	for _, name := range logAnomalies {
		f[name] = []any{}
	}
	for i := range r.Findings {
		found := &r.Findings[i]
		name, told := logNames[found.Rule]
		if !told {
			continue
		}
		if found.Internal {
			name = "int-" + name
		}
		f[name] = append(f[name].([]any), t.entry(found))
	}
	f["unseen"] = t.unseen(r.Unseen)
	f["log"] = t.log(r)
	return f
}

// entry writes a finding with every figure that one of its kind can have.
func (t *logTelling) entry(f *checkers.LogFinding) map[string]any {
	key, _ := strings.CutSuffix(f.Place, "/0")
	e := map[string]any{"key": key, "value": t.value(f.ID), "offset": f.Offset, "index": f.Index, "max_read_index": f.MaxIndex, "delta": f.Delta,
		"count": len(f.Offsets), "offsets": f.Offsets, "skipped": t.valuesIn(f.Skipped), "values": t.valuesIn(f.IDs),
		"writer": t.indexes[f.Writer], "reader": t.indexes[f.Reader], "max_read": t.indexes[f.Reader]}
	if f.Rule == "inconsistent-offset" {
		slices.SortFunc(e["values"].([]any), compareValues)
	}
	var ops []int64
	for _, number := range f.Ops {
		ops = append(ops, t.indexes[number])
	}
	e["ops"] = ops
	if len(ops) > 0 {
		e["op"] = ops[len(ops)-1]
	}
	return e
}

func (t *logTelling) valuesIn(ids []msg.ID) []any {
	all := []any{}
	for _, id := range ids {
		all = append(all, t.value(id))
	}
	return all
}

// compareValues orders numbers before texts.
func compareValues(a, b any) int {
	x, isNumber := a.(float64)
	y, isToo := b.(float64)
	if isNumber && isToo {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(word(a), word(b))
}

// unseen is the backlog at the end, by key or as a list of its values, or the series that
// led to it. A key whose backlog is empty may be left out.
func (t *logTelling) unseen(series []checkers.UnseenSample) any {
	final, last, told, values := map[string]any{}, map[string]any{}, []any{}, []any{}
	for i, s := range series {
		last = map[string]any{}
		for _, place := range slices.Sorted(maps.Keys(s.IDs)) {
			key, _ := strings.CutSuffix(place, "/0")
			last[key] = float64(len(s.IDs[place]))
			if i == len(series)-1 && len(s.IDs[place]) > 0 {
				final[key] = last[key]
				values = append(values, map[string]any{"key": key, "values": t.valuesIn(s.IDs[place]), "count": last[key]})
			}
		}
		told = append(told, map[string]any{"time": s.AtNs / ways, "unseen": last})
	}
	return either{final, told, pairsOf(told), values, last}
}

// pairsOf writes a series as [time, figure] pairs.
func pairsOf(told []any) []any {
	all := []any{}
	for _, one := range told {
		o := one.(map[string]any)
		all = append(all, []any{o["time"], o["unseen"]})
	}
	return all
}

func (t *logTelling) log(r *checkers.LogReport) map[string]any {
	all := map[string]any{}
	for place, offsets := range r.Log {
		key, _ := strings.CutSuffix(place, "/0")
		at := map[string]any{}
		for off, ids := range offsets {
			values := t.valuesIn(ids)
			slices.SortFunc(values, compareValues)
			at[word(float64(off))] = values
		}
		all[key] = at
	}
	return all
}
