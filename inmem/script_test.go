// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/contract/profiles"
	"github.com/seed-720a3c77/harness/msg"
)

// tester is what a script needs of a testing.T or rapid.T.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// script is a machine that is told what to do in lines of text, and what must come of it:
//
//	send a1 a2          publish messages named by their key and number
//	at 2s               let time pass until then, with every deadline
//	get A 5 = a1* a2(2) receive as consumer A, with flags and counts
//	ack A a1 = stale    settle A's last delivery of a message, and its result
//	depth q = 1/0/0     ready, in flight, delayed
//	begin X             begin a transaction of the producer with the transactional id X
//	in X a1             publish in it; "end X" commits, "abort X" aborts it
//	again X             open another producer of the id; zombie X a2 publishes by the former
//
// A consumer opens at its first line, on the destination q, unless "open" made it.
type script struct {
	t         tester
	m         *Machine
	now       time.Duration
	producer  Session
	published uint64
	sessions  map[string]Session
	producers map[string][]Session // by transactional id, the newest last
	specs     map[string]broker.ConsumerSpec
	held      map[string]broker.Delivery // by consumer and message
	notices   []string
	onNotice  func(consumer string, n broker.Notice) // or nil
	woken     []string
	line      string
}

func newScript(t tester, profile string, opts Options, destinations ...broker.Destination) *script {
	t.Helper()
	p, err := profiles.Named(profile)
	if err != nil {
		t.Fatal(err)
	}
	return newScriptOf(t, p, opts, destinations...)
}

func newScriptOf(t tester, p contract.Profile, opts Options, destinations ...broker.Destination) *script {
	t.Helper()
	m, err := New(p, opts)
	if err != nil {
		t.Fatal(err)
	}
	s := &script{t: t, m: m, sessions: map[string]Session{}, producers: map[string][]Session{}, specs: map[string]broker.ConsumerSpec{}, held: map[string]broker.Delivery{}}
	if err := m.Declare(0, broker.Topology{Destinations: destinations}); err != nil {
		t.Fatal(err)
	}
	s.producer, err = m.OpenProducer(0, broker.ProducerSpec{Name: "p"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// run does every line of a text.
func (s *script) run(text string) {
	s.t.Helper()
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line != "" {
			s.line = line
			s.do(line)
		}
	}
}

func (s *script) do(line string) {
	s.t.Helper()
	line, want, wanted := strings.Cut(line, "=")
	words := strings.Fields(line)
	if words[0] == "open" {
		s.open(strings.Fields(s.line)[1:])
		return
	}
	want = strings.TrimSpace(want)
	if got := s.act(words[0], words[1:]); wanted && got != want || !wanted && got != "ok" && got != "" {
		s.t.Fatalf("at %v: %s: got %q", s.now, s.line, got)
	}
	s.hear()
}

func (s *script) act(verb string, args []string) string {
	switch verb {
	case "send":
		return s.send(args)
	case "at":
		s.until(duration(args[0]))
		return "ok"
	case "get":
		return s.get(args[0], number(args[1]), 0)
	case "wait":
		return s.get(args[0], number(args[1]), duration(args[2]))
	case "woken":
		got := strings.Join(s.woken, " ")
		s.woken = nil
		return got
	case "heard":
		got := strings.Join(s.notices, ", ")
		s.notices = nil
		return got
	case "depth":
		return s.depth(args)
	case "purge":
		return outcome(s.m.Purge(s.now, args[0]))
	case "begin", "end", "abort", "in", "zombie", "again":
		return s.transaction(verb, args[0], args[1:])
	case "remove":
		s.m.Remove(s.now, args[0])
		return "ok"
	default:
		return s.actAs(verb, s.session(args[0]), args)
	}
}

func (s *script) actAs(verb string, c Session, args []string) string {
	switch verb {
	case "vanish":
		s.m.Vanish(s.now, c)
	case "part":
		s.m.GiveBack(s.now, c)
	case "leave":
		s.m.Leave(s.now, c)
	case "beat":
		s.m.Heartbeat(s.now, c)
	case "autocommit":
		s.m.AutoCommit(s.now, c)
	case "unwait":
		s.m.Unwait(s.now, c, false)
	case "cancel":
		s.m.Unwait(s.now, c, true)
	case "seek":
		return outcome(s.m.Seek(s.now, c, int32(number(args[1])), int64(number(args[2]))))
	case "pause":
		return outcome(s.m.Pause(s.now, c, true))
	case "resume":
		return outcome(s.m.Pause(s.now, c, false))
	default:
		return s.settle(verb, c, args)
	}
	return "ok"
}

var scriptVerbs = map[string]broker.Verb{
	"ack": broker.Ack, "nack": broker.Requeue, "reject": broker.Reject,
	"extend": broker.Extend, "commit": broker.Commit, "mark": broker.Mark,
}

// settle settles messages in turn: "ack A a1 a2", "ack-up-to A a5", "extend A a1 5s". A
// message of another consumer is written B/a1.
func (s *script) settle(verb string, c Session, args []string) string {
	verb, multiple := strings.CutSuffix(verb, "-up-to")
	one := broker.Settlement{Verb: scriptVerbs[verb], Multiple: multiple}
	if one.Verb == broker.NoVerb {
		s.t.Fatalf("unknown line %q", s.line)
	}
	names := args[1:]
	if last := names[len(names)-1]; last[0] >= '0' && last[0] <= '9' {
		one.Delay = duration(last)
		names = names[:len(names)-1]
	}
	var results []string
	for _, name := range names {
		if !strings.Contains(name, "/") {
			name = args[0] + "/" + name
		}
		d, held := s.held[name]
		if !held {
			s.t.Fatalf("%s: never received %s", s.line, name)
		}
		one.Token = d.Token
		result := []error{nil}
		s.m.Settle(s.now, c, []broker.Settlement{one}, result)
		results = append(results, outcome(result[0]))
	}
	return strings.Join(slices.Compact(results), " ")
}

// outcome is an error in a word.
func outcome(err error) string {
	var own *broker.Error
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, broker.ErrUnsupported):
		return "unsupported"
	case errors.Is(err, broker.ErrNotFound):
		return "not-found"
	case errors.Is(err, broker.ErrStale):
		return "stale"
	case errors.As(err, &own):
		return own.Answer.String()
	default:
		return err.Error()
	}
}

func (s *script) send(names []string) string {
	s.t.Helper()
	return s.sendFrom(s.producer, names)
}

// transaction is what the producers of a transactional id do.
func (s *script) transaction(verb, id string, names []string) string {
	s.t.Helper()
	all := s.producers[id]
	if len(all) == 0 || verb == "again" {
		p, err := s.m.OpenProducer(s.now, broker.ProducerSpec{TransactionID: id})
		if err != nil {
			s.t.Fatal(err)
		}
		all = append(all, p)
		s.producers[id] = all
	}
	newest := all[len(all)-1]
	switch verb {
	case "begin":
		return outcome(s.m.Begin(s.now, newest, s.published))
	case "end":
		return outcome(s.m.Commit(s.now, newest, nil))
	case "abort":
		return outcome(s.m.Abort(s.now, newest))
	case "in":
		return s.sendFrom(newest, names)
	case "zombie":
		return s.sendFrom(all[len(all)-2], names)
	}
	return "ok"
}

func (s *script) sendFrom(from Session, names []string) string {
	s.t.Helper()
	var results []string
	for _, name := range names {
		m := s.message(name)
		_, err := s.m.Publish(s.now, from, s.published, m)
		s.published++
		results = append(results, outcome(err))
	}
	return strings.Join(slices.Compact(results), " ")
}

// message is named key, number, and options: "a1", "a1,delay:2s", "a1,dedup:x", "a1,part:1",
// "a1,to:x", "a1,route:r".
func (s *script) message(name string) *msg.Message {
	parts := strings.Split(name, ",")
	m := &msg.Message{
		To: "q", ID: idOf(parts[0]), Attempt: 1, Key: parts[0][:1], Partition: msg.AnyPartition, Body: []byte("body"),
	}
	for _, option := range parts[1:] {
		key, value, _ := strings.Cut(option, ":")
		switch key {
		case "delay":
			m.Delay = duration(value)
		case "dedup":
			m.Dedup = value
		case "part":
			m.Partition = int32(number(value))
		case "to":
			m.To = value
		case "route":
			m.Route = value
		default:
			s.t.Fatalf("unknown option in %q", name)
		}
	}
	return m
}

// idOf puts the letter into the producer's number.
func idOf(name string) msg.ID {
	return msg.ID{Producer: uint32(name[0]), Seq: uint64(number(name[1:]))}
}

func nameOf(id msg.ID) string { return string(rune(id.Producer)) + strconv.FormatUint(id.Seq, 10) }

func (s *script) get(consumer string, n int, wait time.Duration) string {
	s.t.Helper()
	into := make([]broker.Delivery, n)
	c := s.session(consumer)
	got, err := s.m.Receive(s.now, c, wait, into)
	if err != nil {
		return outcome(err)
	}
	if got == 0 && wait == 0 {
		s.m.Unwait(s.now, c, false)
	}
	var names []string
	for _, d := range into[:got] {
		s.held[consumer+"/"+nameOf(d.ID)] = d
		names = append(names, shown(d))
	}
	return strings.Join(names, " ")
}

// shown is a delivery with * for the flag, the count if it is not 1, and ! if it is corrupt.
func shown(d broker.Delivery) string {
	text := nameOf(d.ID)
	if d.Redelivered {
		text += "*"
	}
	if d.Count > 1 {
		text += fmt.Sprintf("(%d)", d.Count)
	}
	if d.Corrupt {
		text += "!"
	}
	return text
}

func (s *script) session(consumer string) Session {
	s.t.Helper()
	if c, ok := s.sessions[consumer]; ok {
		return c
	}
	s.open([]string{consumer})
	return s.sessions[consumer]
}

// open makes a consumer: "open A from=q batch=10 prefetch=1 group=g session=6s".
func (s *script) open(words []string) {
	s.t.Helper()
	spec := broker.ConsumerSpec{Name: words[0], From: "q", Group: "g", Batch: 10}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "from":
			spec.From = value
		case "group":
			spec.Group = value
		case "batch":
			spec.Batch = number(value)
		case "prefetch":
			spec.Prefetch = number(value)
		case "session":
			spec.Session = duration(value)
		case "strategy":
			spec.Strategy = value
		case "static":
			spec.StaticID = value
		case "autocommit":
			spec.AutoCommit = duration(value)
		case "autoack":
			spec.AutoAck = value == "true"
		case "start":
			spec.Start = broker.Start(value)
		default:
			s.t.Fatalf("unknown option %q", word)
		}
	}
	c, err := s.m.OpenConsumer(s.now, spec)
	if err != nil {
		s.t.Fatalf("%s: %v", s.line, err)
	}
	s.sessions[words[0]], s.specs[words[0]] = c, spec
	s.hear()
}

// hear collects what the machine has to say.
func (s *script) hear() {
	for _, out := range s.m.Drain(nil) {
		name := s.nameOfSession(out.Session)
		if out.Notice == nil {
			s.woken = append(s.woken, name)
			continue
		}
		if s.onNotice != nil {
			s.onNotice(name, *out.Notice)
		}
		s.notices = append(s.notices, name+" "+noticed(*out.Notice))
	}
}

func noticed(n broker.Notice) string {
	switch n.Kind {
	case broker.SessionOpen:
		return "open"
	case broker.SessionClose:
		return "close " + n.Code
	case broker.Assigned:
		return fmt.Sprintf("assigned %d@%d", n.Partition, n.Offset)
	case broker.Revoked:
		return fmt.Sprintf("revoked %d", n.Partition)
	case broker.Lost:
		return fmt.Sprintf("lost %d", n.Partition)
	default:
		return "notice"
	}
}

func (s *script) nameOfSession(session Session) string {
	for name, c := range s.sessions {
		if c == session {
			return name
		}
	}
	return "?"
}

// until lets time pass, deadline by deadline.
func (s *script) until(end time.Duration) {
	for next, any := s.m.Next(); any && next <= end; next, any = s.m.Next() {
		s.m.Advance(next)
		s.hear()
	}
	s.now = max(s.now, end)
}

func (s *script) depth(args []string) string {
	group := ""
	if len(args) > 1 {
		group = args[1]
	}
	d, err := s.m.Depth(s.now, args[0], group)
	switch {
	case err != nil:
		return outcome(err)
	case s.m.rules.Model == contract.Log:
		return fmt.Sprintf("%d/%d/%d", d.Start, d.Committed, d.End)
	case s.m.rules.Model == contract.PushQueue:
		return fmt.Sprintf("%d/%d", d.Ready, d.InFlight)
	default:
		return fmt.Sprintf("%d/%d/%d", d.Ready, d.InFlight, d.Delayed)
	}
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return n
}

func duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		panic(err)
	}
	return d
}
