// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/contract/profiles"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// judgeVisibility is the kind "visibility": leases, message groups, dead letters and
// deduplication as SQS has them. Rows are [t, "send", id, {group, dedup}], [t, "recv",
// [[id, handle], ...], {vt}], [t, "delete", handle, result], [t, "extend", handle, vt,
// result], [t, "dlq", id] and [t, "purge"], with t and vt in seconds.
//
// A send that falls into the deduplication window of another is a second attempt to
// publish that one, which the broker must not store again.
func judgeVisibility(c *Case, rules Rules) (Figures, error) {
	rows, err := c.rows()
	if err != nil {
		return nil, err
	}
	var conf visibilityConf
	if err := c.field("conf", &conf); err != nil {
		return nil, err
	}
	t, err := tellVisibility(c.ID, conf)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		t.row(r)
	}
	found, _, err := rules.find(t.telling)
	if err != nil {
		return nil, err
	}
	return t.figures(found, rules), nil
}

type visibilityConf struct {
	VT          float64 `json:"vt"`
	FIFO        bool    `json:"fifo"`
	MaxReceives int     `json:"max_receives"`
	DedupScope  string  `json:"dedup_scope"`
}

// visibilityTelling writes what happened on one queue.
type visibilityTelling struct {
	*telling
	conf     visibilityConf
	ids      map[string]msg.ID
	names    []string // of the case, in the order in which they were sent
	keys     map[msg.ID]uint32
	attempts map[msg.ID]uint16
	window   map[string]accepted // by deduplication id and scope
	absorbed []string
	handles  map[string]lease
	holding  map[msg.ID]string // the latest handle
	until    map[msg.ID]int64  // when the latest lease ends
	gone     map[msg.ID]bool   // deleted, dead-lettered or purged
	over     map[msg.ID]bool   // purged, or deleted through the latest handle
	after    []msg.ID          // delivered all the same
	purges   int
}

type accepted struct {
	id msg.ID
	at int64
}

type lease struct {
	id      msg.ID
	session uint32
	op      uint32
}

func tellVisibility(name string, conf visibilityConf) (*visibilityTelling, error) {
	base := "localstack-4.9-standard"
	if conf.FIFO {
		base = "sqs-fifo"
	}
	p, err := profiles.Named(base)
	if err != nil {
		return nil, err
	}
	p.Tolerance, p.Lease.Tick, p.TakeOver = 0, 0, 0
	h := queueHeader(name, p)
	h.Destinations[0].Lease = time.Duration(conf.VT * float64(time.Second))
	h.Destinations[0].MaxDeliveries = conf.MaxReceives
	h.Destinations[0].DeadLetter = "dead"
	h.Destinations = append(h.Destinations, history.Destination{Name: "dead", Broker: "dead", DeadLetterOf: "q"})
	t, err := begin(h)
	return &visibilityTelling{telling: t, conf: conf, ids: map[string]msg.ID{}, keys: map[msg.ID]uint32{}, attempts: map[msg.ID]uint16{},
		window: map[string]accepted{}, handles: map[string]lease{}, holding: map[msg.ID]string{}, until: map[msg.ID]int64{}, gone: map[msg.ID]bool{}, over: map[msg.ID]bool{}}, err
}

func seconds(s float64) int64 { return int64(math.Round(s * float64(time.Second))) }

func (t *visibilityTelling) row(r row) {
	at := seconds(r.number(0))
	t.at(at)
	switch r.text(1) {
	case "send":
		options, _ := r.at(3).(map[string]any)
		t.send(at, r.text(2), options)
	case "recv":
		options, _ := r.at(3).(map[string]any)
		t.receive(at, r.list(2), options)
	case "delete":
		t.delete(r.text(2), result(r.text(3)))
	case "extend":
		t.extend(at+seconds(r.number(3)), r.text(2), result(r.text(4)))
	case "dlq":
		id := t.id(r.text(2))
		t.gone[id] = true
		t.add(history.Event{Kind: history.Audit, Producer: id.Producer, Seq: id.Seq, Place: t.place("dead", "")})
	case "purge":
		t.purge()
	}
}

// result is what an answer proves; one that is not "ok" changed nothing.
func result(text string) contract.Class {
	if text == "ok" {
		return contract.OK
	}
	return contract.Rejected
}

func (t *visibilityTelling) id(name string) msg.ID {
	id, known := t.ids[name]
	if !known {
		id = msg.ID{Seq: uint64(len(t.ids))}
		t.ids[name], t.values[id] = id, name
	}
	return id
}

func (t *visibilityTelling) send(at int64, name string, options map[string]any) {
	group, _ := options["group"].(string)
	dedup, _ := options["dedup"].(string)
	t.names = append(t.names, name)
	scope := dedup
	if strings.Contains(strings.ToLower(t.conf.DedupScope), "group") {
		scope += "\x00" + group
	}
	if first, open := t.window[scope]; dedup != "" && open && at-first.at < int64(5*time.Minute) {
		t.ids[name] = first.id
		t.absorbed = append(t.absorbed, name)
	}
	id := t.id(name)
	if dedup != "" && t.attempts[id] == 0 {
		t.window[scope] = accepted{id, at}
	}
	if group != "" && t.attempts[id] == 0 {
		t.keys[id] = t.key(fmt.Sprint(group, "\x00", t.purges)) // what a purge took stands before nobody
	}
	t.attempts[id]++
	session := t.session("producer")
	op := t.next(session)
	t.add(history.Event{Kind: history.PublishStart, Producer: id.Producer, Seq: id.Seq, Attempt: t.attempts[id], Session: session, Place: t.place("q", ""), Key: t.keys[id], Op: op})
	t.answered(session, op, id, t.place("q", ""), -1, contract.OK)
}

// receive is one answer: all of it comes at once.
func (t *visibilityTelling) receive(at int64, batch row, options map[string]any) {
	vt := t.conf.VT
	if own, given := options["vt"].(float64); given {
		vt = own
	}
	session := t.session("consumer")
	instant := t.now + 1
	var ops []uint32
	for i := range batch {
		name, handle := batch.list(i).text(0), batch.list(i).text(1)
		id := t.id(name)
		e := history.Event{Place: t.place("q", ""), Off: -1, Key: t.keys[id], Until: max(at+seconds(vt), 1)}
		if t.over[id] {
			t.after = append(t.after, id)
		}
		if t.values[id] != name {
			e.N = 1 // another copy than the one that was sent first
		}
		t.now = instant - 1
		op := t.delivered(session, id, e)
		ops = append(ops, op)
		t.handles[handle], t.holding[id], t.until[id] = lease{id, session, op}, handle, e.Until
	}
	for i, op := range ops {
		t.of(history.HandlerStart, session, op, t.id(batch.list(i).text(0)), nil)
	}
}

func (t *visibilityTelling) delete(handle string, class contract.Class) {
	l, known := t.handles[handle]
	if !known {
		return
	}
	if class == contract.OK {
		t.of(history.HandlerEnd, l.session, l.op, l.id, nil)
		t.gone[l.id], t.over[l.id] = true, t.over[l.id] || t.holding[l.id] == handle
	}
	t.settled(l.session, l.op, l.id, history.VerbAck, class)
}

func (t *visibilityTelling) extend(until int64, handle string, class contract.Class) {
	l, known := t.handles[handle]
	if !known {
		return
	}
	if class == contract.OK {
		t.until[l.id] = until
	}
	t.of(history.SettleStart, l.session, l.op, l.id, func(e *history.Event) { e.Verb, e.Until = history.VerbExtend, until })
	t.of(history.SettleAnswer, l.session, l.op, l.id, func(e *history.Event) { e.Verb, e.Until, e.Class = history.VerbExtend, max(until, 1), class })
}

// purge empties the queue and forgets what was sent: what is leased is deleted through its
// holder, and nothing else may come any more.
func (t *visibilityTelling) purge() {
	clear(t.window)
	t.purges++
	for _, name := range t.names {
		id := t.ids[name]
		if t.gone[id] {
			continue
		}
		t.gone[id] = true
		if handle := t.holding[id]; handle != "" && t.now+1 < t.until[id] {
			t.delete(handle, contract.OK)
		}
		t.over[id] = true
	}
}

// visibilityNames are the words for what is found; sources write some differently.
var visibilityNames = map[string]either{
	"premature-redelivery":  {"premature", "premature-redelivery", "premature-delivery", "early-redelivery", "lease-violated"},
	"order-group":           {"group-order"},
	"group-blocked":         {"group-blocked"},
	"duplicate-after-ack":   {"after-delete", "after-purge", "duplicate-after-ack", "delivered-after-delete", "received-after-delete", "resurrected", "deleted-reappeared"},
	"duplicate-unexplained": {"duplicate", "duplicate-unexplained", "unexplained-duplicate"},
	"dedup-violation":       {"dedup", "dedup-violation", "duplicate-in-window"},
	"dead-letter-early":     {"dlq-too-early", "dead-letter-early"},
	"dead-letter-premature": {"dlq-too-early", "dead-letter-premature"},
	"dead-letter-late":      {"dlq-too-late", "too-many-receives", "dead-letter-late", "over-limit"},
	"dead-letter-twice":     {"dlq-twice", "dead-letter-twice", "dlq-duplicate", "dlq-duplicated", "dlq-dup", "duplicate-dlq", "double-dlq"},
	"dead-letter-after-ack": {"dlq-and-processed", "processed-and-dlq", "dlq-and-acked", "acked-and-dlq", "dlq-after-delete", "dlq-after-ack",
		"dead-letter-after-ack", "deleted-and-dlq", "dlq-deleted", "dlq-processed"},
	"stale-accepted": {"expired-receipt-accepted", "stale-accepted", "receipt-misuse", "expired-receipt"},
	"from-nowhere":   {"from-nowhere", "phantom"},
}

func (t *visibilityTelling) figures(found findings, rules Rules) Figures {
	violations := []any{}
	if rules.has("visibility:over") {
		found["duplicate-after-ack"] = append(found["duplicate-after-ack"], t.unnoticed(found)...)
	}
	for _, row := range sortedNames(visibilityNames) {
		for _, id := range found[row] {
			violations = append(violations, []any{visibilityNames[row], t.value(id)})
		}
	}
	alive := []any{}
	for _, name := range t.names {
		if id := t.ids[name]; slices.Contains(found["undrained"], id) && !t.gone[id] && !slices.Contains(t.absorbed, name) {
			alive = append(alive, name)
		}
	}
	return Figures{"violations": violations, "absorbed": t.swallowed(found), "alive": alive}
}

// unnoticed are deliveries of messages that were gone, beyond those that were found for
// any reason. Rows come one after another here, so that a delete with success leaves no doubt, be its
// receipt as old as it may.
func (t *visibilityTelling) unnoticed(found findings) (after []msg.ID) {
	known := slices.Concat(found["duplicate-after-ack"], found["premature-redelivery"], found["duplicate-unexplained"], found["dedup-violation"])
	for _, id := range t.after {
		if i := slices.Index(known, id); i >= 0 {
			known = slices.Delete(known, i, i+1)
			continue
		}
		after = append(after, id)
	}
	return after
}

// swallowed are the sends that were absorbed as they should be.
func (t *visibilityTelling) swallowed(found findings) []any {
	all := []any{}
	for _, name := range t.absorbed {
		if !slices.Contains(found["dedup-violation"], t.ids[name]) {
			all = append(all, name)
		}
	}
	return all
}
