// SPDX-License-Identifier: Apache-2.0

package conformance

import (
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
	return t.figures(found), nil
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
	purged   map[msg.ID]bool
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
		window: map[string]accepted{}, handles: map[string]lease{}, holding: map[msg.ID]string{}, purged: map[msg.ID]bool{}}, err
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
	if group != "" {
		t.keys[id] = t.key(group)
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
		if t.values[id] != name {
			e.N = 1 // another copy than the one that was sent first
		}
		t.now = instant - 1
		op := t.delivered(session, id, e)
		ops = append(ops, op)
		t.handles[handle], t.holding[id] = lease{id, session, op}, handle
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
	}
	t.settled(l.session, l.op, l.id, history.VerbAck, class)
}

func (t *visibilityTelling) extend(until int64, handle string, class contract.Class) {
	l, known := t.handles[handle]
	if !known {
		return
	}
	t.of(history.SettleStart, l.session, l.op, l.id, func(e *history.Event) { e.Verb, e.Until = history.VerbExtend, until })
	t.of(history.SettleAnswer, l.session, l.op, l.id, func(e *history.Event) { e.Verb, e.Until, e.Class = history.VerbExtend, max(until, 1), class })
}

// purge empties the queue and forgets what was sent.
func (t *visibilityTelling) purge() {
	clear(t.window)
	for _, name := range t.names {
		id := t.ids[name]
		t.purged[id] = true
		if handle, held := t.holding[id]; held {
			t.delete(handle, contract.OK)
		}
	}
}

// visibilityNames are the words for what is found; sources write some differently.
var visibilityNames = map[string]either{
	"premature-redelivery":  {"premature", "premature-redelivery", "premature-delivery", "early-redelivery", "lease-violated"},
	"order-group":           {"group-order"},
	"group-blocked":         {"group-blocked"},
	"duplicate-after-ack":   {"after-delete", "duplicate-after-ack", "delivered-after-delete", "received-after-delete", "resurrected", "deleted-reappeared"},
	"duplicate-unexplained": {"duplicate", "duplicate-unexplained", "unexplained-duplicate"},
	"dedup-violation":       {"dedup", "dedup-violation", "duplicate-in-window"},
	"dead-letter-early":     {"dlq-too-early", "dead-letter-early"},
	"dead-letter-premature": {"dlq-too-early", "dead-letter-premature"},
	"dead-letter-late":      {"dlq-too-late", "too-many-receives", "dead-letter-late", "over-limit"},
	"dead-letter-twice":     {"dlq-twice", "dead-letter-twice", "dlq-duplicate"},
	"dead-letter-after-ack": {"dlq-and-processed", "dlq-after-delete", "dlq-after-ack", "dead-letter-after-ack", "deleted-and-dlq"},
	"stale-accepted":        {"expired-receipt-accepted", "stale-accepted", "receipt-misuse", "expired-receipt"},
	"from-nowhere":          {"from-nowhere", "phantom"},
}

func (t *visibilityTelling) figures(found findings) Figures {
	violations := []any{}
	for _, row := range sortedNames(visibilityNames) {
		for _, id := range found[row] {
			violations = append(violations, []any{visibilityNames[row], t.value(id)})
		}
	}
	alive := []any{}
	for _, name := range t.names {
		if id := t.ids[name]; slices.Contains(found["undrained"], id) && !t.purged[id] && !slices.Contains(t.absorbed, name) {
			alive = append(alive, name)
		}
	}
	return Figures{"violations": violations, "absorbed": t.swallowed(found), "alive": alive}
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
