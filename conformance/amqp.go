// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"slices"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/contract/profiles"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// judgeAMQP is the kind "amqp": deliveries of a quorum queue with a delivery limit. Rows
// are ["pub", id], ["deliver", consumer, id, redelivered, count of failed deliveries],
// ["requeue", consumer, id] or "nack", ["reject", consumer, id], ["ack", consumer, id],
// ["cancel", consumer] (it keeps what it holds), ["close", consumer] (it dies with it) and
// ["dlq", id]; conf has limit, of which a negative one is none, and dlx.
func judgeAMQP(c *Case, rules Rules) (Figures, error) {
	rows, err := c.rows()
	if err != nil {
		return nil, err
	}
	var conf amqpConf
	if err := c.field("conf", &conf); err != nil {
		return nil, err
	}
	t, err := tellAMQP(c.ID, conf)
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
	if rules.has("amqp:attempts") {
		t.attempts.add(found)
	}
	return t.figures(found), nil
}

type amqpConf struct {
	Limit *int `json:"limit"`
	DLX   bool `json:"dlx"`
}

type amqpTelling struct {
	*telling
	ids       map[string]msg.ID
	published []string
	latest    []msg.ID // by latest delivery
	holds     map[string]lease
	attempts  attempts
}

func tellAMQP(name string, conf amqpConf) (*amqpTelling, error) {
	p, err := profiles.Named("rabbitmq-4.0-quorum")
	if err != nil {
		return nil, err
	}
	h := queueHeader(name, p)
	h.Destinations[0].MaxDeliveries = -1
	if conf.Limit != nil && *conf.Limit >= 0 {
		h.Destinations[0].MaxDeliveries = *conf.Limit + p.Limit.Extra
	}
	if conf.DLX {
		h.Destinations[0].DeadLetter = "dead"
		h.Destinations = append(h.Destinations, history.Destination{Name: "dead", Broker: "dead", DeadLetterOf: "q"})
	}
	t, err := begin(h)
	return &amqpTelling{telling: t, ids: map[string]msg.ID{}, holds: map[string]lease{}, attempts: newAttempts(conf.Limit)}, err
}

func (t *amqpTelling) id(name string) msg.ID {
	id, known := t.ids[name]
	if !known {
		id = msg.ID{Seq: uint64(len(t.ids))}
		t.ids[name], t.values[id] = id, name
	}
	return id
}

func (t *amqpTelling) row(r row) {
	consumer, name := word(r.at(1)), word(r.at(2))
	switch r.text(0) {
	case "pub":
		t.telling.published(t.session("producer"), t.id(consumer), t.place("q", ""), 0, contract.OK)
		t.published = append(t.published, consumer)
	case "deliver", "get":
		t.attempts.delivered(consumer, t.id(name), r.at(4))
		t.deliver(consumer, t.id(name), r.flag(3), uint32(r.number(4)))
	case "requeue", "nack":
		t.settle(consumer, name, history.VerbRequeue)
	case "reject":
		t.settle(consumer, name, history.VerbReject)
	case "ack":
		t.settle(consumer, name, history.VerbAck)
	case "close":
		t.attempts.closed(consumer)
		t.add(history.Event{Kind: history.SessionClose, Session: t.session(consumer), Flags: history.Crashed, Text: t.text("closed")})
	case "dlq":
		id := t.id(consumer)
		t.attempts.deadLettered(id)
		t.add(history.Event{Kind: history.Audit, Producer: id.Producer, Seq: id.Seq, Place: t.place("dead", "")})
	}
}

// deliver hands a message out; the count of the case leaves this delivery out.
func (t *amqpTelling) deliver(consumer string, id msg.ID, redelivered bool, failed uint32) {
	e := history.Event{Place: t.place("q", ""), Off: -1, N: failed + 1}
	if redelivered {
		e.Flags = history.Redelivered
	}
	session := t.session(consumer)
	op := t.delivered(session, id, e)
	t.of(history.HandlerStart, session, op, id, nil)
	t.holds[consumer+"\x00"+word(t.values[id])] = lease{id, session, op}
	t.latest = append(slices.DeleteFunc(t.latest, func(one msg.ID) bool { return one == id }), id)
}

func (t *amqpTelling) settle(consumer, name string, verb uint8) {
	l, known := t.holds[consumer+"\x00"+name]
	if !known {
		return
	}
	t.attempts.settled(l.id, verb)
	t.of(history.HandlerEnd, l.session, l.op, l.id, func(e *history.Event) {
		if verb != history.VerbAck {
			e.Flags = history.Failed
		}
	})
	t.settled(l.session, l.op, l.id, verb, contract.AcceptedOnly)
}

// amqpNames are the words for what is found.
var amqpNames = map[string]either{
	"unflagged-redelivery":   {"unflagged", "unflagged-redelivery"},
	"wrong-count":            {"wrong-count", "count"},
	"duplicate-unexplained":  {"duplicate", "duplicate-unexplained"},
	"duplicate-after-ack":    {"after-ack", "duplicate-after-ack"},
	"order-partition":        {"order", "queue-order"},
	"dead-letter-early":      {"dlq-too-early", "dead-letter-early"},
	"dead-letter-premature":  {"dlq-too-early", "dead-letter-premature"},
	"dead-letter-late":       {"dlq-too-late", "over-limit", "limit-exceeded", "dead-letter-late"},
	"dead-letter-twice":      {"dlq-twice", "dead-letter-twice", "dlq-duplicate"},
	"dead-letter-after-ack":  {"dlq-after-ack", "dead-letter-after-ack", "dlq-and-acked", "dlq-and-processed"},
	"lost-in-dead-lettering": {"lost-in-dlx", "lost-in-dead-lettering"},
	"from-nowhere":           {"from-nowhere", "phantom"},
}

func (t *amqpTelling) figures(found findings) Figures {
	violations := []any{}
	for _, row := range sortedNames(amqpNames) {
		for _, id := range found[row] {
			violations = append(violations, []any{amqpNames[row], t.value(id)})
		}
	}
	return Figures{
		"violations": violations, "left": t.left(found["undrained"]),
		"dlq": t.valuesOf(found, "dead-lettered"), "dropped": t.valuesOf(found, "policy-drop"),
	}
}

// left is what is still there: what was delivered last comes last.
func (t *amqpTelling) left(undrained []msg.ID) []any {
	all := []any{}
	for _, name := range t.published {
		if id := t.ids[name]; slices.Contains(undrained, id) && !slices.Contains(t.latest, id) {
			all = append(all, name)
		}
	}
	var held []any
	for _, id := range t.latest {
		if slices.Contains(undrained, id) {
			held = append(held, t.value(id))
		}
	}
	return append(held, all...)
}
