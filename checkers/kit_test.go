// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/contract/profiles"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// tale is a tiny history, told in one-line steps. Each step is one millisecond after the
// one before unless at moves the clock.
type tale struct {
	header history.Header
	names  [history.Tables][]string
	events []history.Event
	now    int64
	key    uint32 // of what is delivered
	due    map[msg.ID]int64
	ops    map[string]uint32         // publish attempts and deliveries so far, by session
	held   map[string]*history.Event // latest delivery of "worker id"
}

// millisecond is the unit of time of a tale.
const millisecond = int64(time.Millisecond)

// tell begins a tale on a profile with one destination "orders", one subscription
// "billing" with plain effects, and one producer p0.
func tell(profile string) *tale {
	p, err := profiles.Named(profile)
	if err != nil {
		panic(err)
	}
	t := &tale{ops: map[string]uint32{}, held: map[string]*history.Event{}, due: map[msg.ID]int64{}}
	for i := range t.names {
		t.names[i] = []string{""}
	}
	t.header = history.Header{
		Run: "tale", Workload: "tale", Profile: p, Fidelity: "virtual", Clock: "virtual",
		Destinations: []history.Destination{{Name: "orders", Broker: "orders-1", Partitions: 1}},
		Subscriptions: []history.Subscription{
			{Name: "billing", From: "orders", Published: []string{"orders"}, Settle: "after-handler", Effect: "plain"},
		},
		Producers: []history.Producer{{Name: "p0", To: "orders"}},
	}
	return t
}

func (t *tale) ref(table history.Table, text string) uint32 {
	if i := slices.Index(t.names[table], text); i >= 0 {
		return uint32(i)
	}
	t.names[table] = append(t.names[table], text)
	return uint32(len(t.names[table]) - 1)
}

func (t *tale) name(table history.Table, ref uint32) string {
	if int(ref) < len(t.names[table]) {
		return t.names[table][ref]
	}
	return ""
}

func (t *tale) add(e history.Event) *history.Event {
	t.now += millisecond
	e.T = t.now
	t.events = append(t.events, e)
	return &t.events[len(t.events)-1]
}

// at moves the clock: the next step happens at that millisecond.
func (t *tale) at(ms int64) *tale {
	t.now = (ms - 1) * millisecond
	return t
}

func (t *tale) session(worker string) uint32 {
	return t.ref(history.Sessions, worker+"|billing|orders|1")
}

func (t *tale) place(destination string) uint32 {
	if t.header.Profile.Model == contract.Log && !strings.Contains(destination, "|") {
		destination += "|0"
	}
	if !strings.Contains(destination, "|") {
		destination += "|"
	}
	return t.ref(history.Places, destination)
}

func id(text string) msg.ID {
	id, err := msg.ParseID(text)
	if err != nil {
		panic(err)
	}
	return id
}

// ids are p0/from to p0/to.
func ids(from, to int) (all []string) {
	for i := from; i <= to; i++ {
		all = append(all, fmt.Sprintf("p0/%d", i))
	}
	return all
}

// send begins an attempt to publish; answer ends it.
func (t *tale) send(text string) *tale { return t.sendTo(text, "orders") }

func (t *tale) sendTo(text, to string) *tale {
	session := fmt.Sprintf("p%d", id(text).Producer)
	t.ops[session]++
	t.add(history.Event{Kind: history.PublishStart, Producer: id(text).Producer, Seq: id(text).Seq, Attempt: 1,
		Session: t.ref(history.Sessions, session+"||"+to+"|1"), Op: t.ops[session], Place: t.place(to), Key: t.key})
	if _, sent := t.due[id(text)]; !sent {
		t.due[id(text)] = t.now
	}
	return t
}

func (t *tale) answer(text string, class contract.Class) *tale {
	return t.answerFrom(text, "orders", class, -1)
}

func (t *tale) answerFrom(text, to string, class contract.Class, off int64) *tale {
	answer := map[contract.Class]contract.Answer{contract.OK: contract.Acked, contract.Rejected: contract.Refused, contract.Unknown: contract.Timeout}[class]
	session := fmt.Sprintf("p%d", id(text).Producer)
	t.add(history.Event{Kind: history.PublishAnswer, Producer: id(text).Producer, Seq: id(text).Seq, Attempt: 1,
		Session: t.ref(history.Sessions, session+"||"+to+"|1"), Op: t.ops[session], Place: t.place(to), Off: off, Answer: answer, Class: class})
	return t
}

// publish sends and is acked. On a log the offset is the sequence number.
func (t *tale) publish(all ...string) *tale {
	for _, text := range all {
		t.send(text).answerFrom(text, "orders", contract.OK, int64(id(text).Seq))
	}
	return t
}

// deliver hands a message to a worker. On a log its offset is the sequence number.
func (t *tale) deliver(worker string, all ...string) *tale {
	for _, text := range all {
		t.deliverAt(worker, text, int64(id(text).Seq))
	}
	return t
}

func (t *tale) deliverAt(worker, text string, off int64) *tale {
	t.ops[worker]++
	e := history.Event{Kind: history.Delivery, Producer: id(text).Producer, Seq: id(text).Seq, Session: t.session(worker),
		Op: t.ops[worker], Place: t.place("orders"), Key: t.key, Off: -1}
	if t.header.Profile.Model == contract.Log {
		e.Off = off
	}
	if lease := t.header.Destinations[0].Lease; lease > 0 {
		e.Until = t.now + millisecond + int64(lease)
	}
	if due, sent := t.due[id(text)]; sent {
		e.D = t.now + millisecond - due
	}
	t.held[worker+" "+text] = t.add(e)
	copied := *t.held[worker+" "+text]
	t.held[worker+" "+text] = &copied
	return t
}

// edit changes the latest event.
func (t *tale) edit(change func(*history.Event)) *tale {
	change(&t.events[len(t.events)-1])
	return t
}

func (t *tale) flagged() *tale {
	return t.edit(func(e *history.Event) { e.Flags |= history.Redelivered })
}

func (t *tale) counted(n uint32) *tale { return t.edit(func(e *history.Event) { e.N = n }) }

// of makes an event about the latest delivery of a message to a worker.
func (t *tale) of(worker, text string, kind history.Kind) *history.Event {
	d := t.held[worker+" "+text]
	if d == nil {
		d = &history.Event{Producer: id(text).Producer, Seq: id(text).Seq, Session: t.session(worker), Op: 9999, Place: t.place("orders")}
	}
	return t.add(history.Event{Kind: kind, Producer: d.Producer, Seq: d.Seq, Session: d.Session, Op: d.Op, Place: d.Place, Off: -1})
}

func (t *tale) start(worker string, all ...string) *tale {
	for _, text := range all {
		t.of(worker, text, history.HandlerStart)
	}
	return t
}

func (t *tale) effect(worker string, all ...string) *tale {
	for _, text := range all {
		t.of(worker, text, history.EffectIntent)
		t.of(worker, text, history.EffectResult).Class = contract.OK
	}
	return t
}

func (t *tale) end(worker string, all ...string) *tale {
	for _, text := range all {
		t.of(worker, text, history.HandlerEnd)
	}
	return t
}

func (t *tale) fail(worker string, all ...string) *tale {
	for _, text := range all {
		t.start(worker, text)
		t.of(worker, text, history.HandlerEnd).Flags |= history.Failed
	}
	return t
}

// handle runs a handler to its end with its effect.
func (t *tale) handle(worker string, all ...string) *tale {
	for _, text := range all {
		t.start(worker, text).effect(worker, text).end(worker, text)
	}
	return t
}

func (t *tale) settle(worker, text string, verb uint8, class contract.Class) *tale {
	start := t.of(worker, text, history.SettleStart)
	start.Verb = verb
	if verb == history.VerbCommit || verb == history.VerbMark {
		start.Off = t.held[worker+" "+text].Off + 1
	}
	if class == contract.Unclassed { // no answer
		return t
	}
	e := t.of(worker, text, history.SettleAnswer)
	e.Verb, e.Class = verb, class
	return t
}

// ack settles as the profile does when all goes well: a commit on a log.
func (t *tale) ack(worker string, all ...string) *tale {
	verb := history.VerbAck
	if t.header.Profile.Model == contract.Log {
		verb = history.VerbCommit
	}
	for _, text := range all {
		t.settle(worker, text, verb, t.header.Profile.Settle)
	}
	return t
}

func (t *tale) nack(worker, text string) *tale {
	return t.settle(worker, text, history.VerbRequeue, t.header.Profile.Settle)
}

func (t *tale) reject(worker, text string) *tale {
	return t.settle(worker, text, history.VerbReject, t.header.Profile.Settle)
}

// work delivers, handles and settles, one after another.
func (t *tale) work(worker string, all ...string) *tale {
	for _, text := range all {
		t.deliver(worker, text).handle(worker, text).ack(worker, text)
	}
	return t
}

func (t *tale) crash(worker string) *tale {
	t.add(history.Event{Kind: history.SessionClose, Session: t.session(worker), Flags: history.Crashed, Text: t.ref(history.Texts, "abandoned")})
	return t
}

func (t *tale) closed(worker, why string) *tale {
	t.add(history.Event{Kind: history.SessionClose, Session: t.session(worker), Text: t.ref(history.Texts, why)})
	return t
}

func (t *tale) assign(worker string, off int64, why string) *tale {
	t.add(history.Event{Kind: history.Assign, Session: t.session(worker), Place: t.place("orders"), Off: off, Text: t.ref(history.Texts, why)})
	return t
}

func (t *tale) revoke(worker string) *tale {
	t.add(history.Event{Kind: history.Revoke, Session: t.session(worker), Place: t.place("orders")})
	return t
}

func (t *tale) fault(kind history.Kind, n uint32) *tale {
	t.add(history.Event{Kind: kind, Op: n, Text: t.ref(history.Texts, "kill billing/0")})
	return t
}

func (t *tale) drained() *tale {
	t.add(history.Event{Kind: history.Drained, Class: contract.OK})
	return t
}

func (t *tale) undrained(why string) *tale {
	t.add(history.Event{Kind: history.Drained, Class: contract.Unknown, Text: t.ref(history.Texts, why)})
	return t
}

func (t *tale) found(destination, text string) *tale {
	t.add(history.Event{Kind: history.Audit, Producer: id(text).Producer, Seq: id(text).Seq, Place: t.place(destination), Off: int64(id(text).Seq)})
	return t
}

func (t *tale) audited(destination string) *tale {
	t.add(history.Event{Kind: history.AuditEnd, Place: t.place(destination), Class: contract.OK})
	return t
}

func (t *tale) claims(all ...contract.Claim) *tale {
	t.header.Claims = append(t.header.Claims, all...)
	return t
}

func (t *tale) lease(d time.Duration) *tale {
	t.header.Destinations[0].Lease, t.header.Subscriptions[0].Lease = d, d
	return t
}

// deadLetters declares a limit and a dead-letter queue.
func (t *tale) deadLetters(limit int) *tale {
	t.header.Destinations[0].MaxDeliveries, t.header.Destinations[0].DeadLetter = limit, "orders-dlq"
	t.header.Destinations = append(t.header.Destinations, history.Destination{Name: "orders-dlq", Broker: "orders-dlq-1", DeadLetterOf: "orders"})
	return t
}

// check judges the tale.
func (t *tale) check() Result {
	j := judgeWithAll(&t.header, t.name)
	for i := range t.events {
		j.Observe(&t.events[i])
	}
	return j.Finish()
}

// findings writes the anomalies of a result but for the kinds that every test would have
// to repeat: "lost-undelivered p0/3; redelivered p0/1 p0/2".
func findings(r *Result) string {
	var all []string
	for _, a := range r.Anomalies {
		text := a.Name
		for _, x := range a.Examples {
			text += " " + x.ID.String()
		}
		all = append(all, text)
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

// wantFindings compares what was found, names and ids alike.
func wantFindings(t *testing.T, r *Result, want string) {
	t.Helper()
	if got := findings(r); got != want {
		t.Errorf("found %q\n want %q\n%s", got, want, r.Sentence)
	}
	for i := range r.Ledger {
		if r.Ledger[i].Difference != 0 {
			t.Errorf("balance does not add up: %+v", r.Ledger[i])
		}
	}
}

// judgeWithAll begins a check with every checker.
func judgeWithAll(h *history.Header, names Names) *Judge {
	return newJudge(h, names, All(), new(memory))
}
