// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/contract/profiles"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/inmem/drive"
	"github.com/seed-720a3c77/harness/msg"
)

// A transaction scene is what processes do with transactions, line by line, on the reference
// engine. Each has a producer and reads what is committed; p1/3 is a message of the topic 1:
//
//	A begin        a transaction of process A, which is its transactional id
//	B begin as A   the id of another, whose producer is fenced
//	A send p0/1
//	A read 0       all that there is in topic 0
//	A commit       or abort
//
// What a process did in a transaction is told when it ends, as one operation: as the cases of
// logs do.
type transactionScene struct {
	ctx       context.Context
	engine    broker.Engine
	telling   *logTelling
	processes map[string]*txnProcess
	order     []string // who did each operation that was told
}

type txnProcess struct {
	name     string
	producer broker.Producer
	readers  map[string]broker.Consumer
	open     bool
	done     []any // in the transaction
}

// playTransactions plays a scene and returns its history, and who did each operation.
func playTransactions(name, source, profile string, opts drive.Options) (*history.Run, *transactionScene, error) {
	p, err := profiles.Named(profile)
	if err != nil {
		return nil, nil, err
	}
	telling, err := tellLog(name, true)
	if err != nil {
		return nil, nil, err
	}
	clk := clock.NewVirtual(1)
	defer clk.Close()
	s := &transactionScene{engine: drive.New(clk, p, opts), telling: telling, processes: map[string]*txnProcess{}}
	var played error
	crashed := clk.Run(name, func(ctx context.Context) {
		s.ctx = ctx
		played = errors.Join(s.play(source), s.engine.Close(ctx))
	})
	if err := errors.Join(crashed, played); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	run, err := telling.run()
	return run, s, err
}

func (s *transactionScene) play(source string) error {
	topics := broker.Topology{Destinations: []broker.Destination{{Name: "0"}, {Name: "1"}}}
	if err := s.engine.Declare(s.ctx, topics); err != nil {
		return err
	}
	for line := range strings.Lines(source) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if err := s.step(words[0], words[1:]); err != nil {
			return fmt.Errorf("%s: %w", strings.TrimSpace(line), err)
		}
	}
	return nil
}

var errNoStep = errors.New("want begin, send, read, commit or abort")

func (s *transactionScene) step(name string, words []string) error {
	p := s.processes[name]
	if p == nil {
		p = &txnProcess{name: name, readers: map[string]broker.Consumer{}}
		s.processes[name] = p
	}
	if len(words) == 0 {
		return errNoStep
	}
	switch verb := words[0]; {
	case verb == "begin":
		return s.begin(p, words[len(words)-1])
	case verb == "send":
		return s.send(p, words[1])
	case verb == "read":
		return s.read(p, words[1])
	case verb == "commit":
		return s.end(p, p.producer.Commit(s.ctx), contract.OK)
	case verb == "abort":
		return s.end(p, p.producer.Abort(s.ctx), contract.Rejected)
	}
	return errNoStep
}

// begin opens a transaction, and before its first one the producer.
func (s *transactionScene) begin(p *txnProcess, id string) (err error) {
	if id == "begin" {
		id = p.name
	}
	if p.producer == nil {
		p.producer, err = s.engine.Producer(s.ctx, broker.ProducerSpec{Name: p.name, TransactionID: id})
	}
	if err == nil {
		err = p.producer.Begin(s.ctx)
	}
	p.open = true
	return err
}

// send publishes a message; one that is refused has no offset.
func (s *transactionScene) send(p *txnProcess, text string) error {
	topic, seq, _ := strings.Cut(strings.TrimPrefix(text, "p"), "/")
	number, err := strconv.ParseUint(seq, 10, 32)
	if err != nil {
		return err
	}
	producer, err := strconv.ParseUint(topic, 10, 32)
	if err != nil {
		return err
	}
	m := &msg.Message{To: topic, ID: msg.ID{Producer: uint32(producer), Seq: number}, Attempt: 1, Partition: msg.AnyPartition, Body: []byte(text)}
	at := any(nil)
	err = p.producer.Publish(s.ctx, m, func(r broker.Receipt, err error) {
		if err == nil {
			at = float64(r.Offset)
		}
	})
	if err == nil {
		err = p.producer.Flush(s.ctx)
	}
	p.done = append(p.done, []any{"send", topic, []any{at, text}})
	return err
}

// read takes all that there is in a topic; outside of a transaction it is an operation.
func (s *transactionScene) read(p *txnProcess, topic string) error {
	c, err := s.reader(p, topic)
	if err != nil {
		return err
	}
	var pairs []any
	into := make([]broker.Delivery, 16)
	for n := 1; n > 0; {
		if n, err = c.Receive(s.ctx, into, 0); err != nil {
			return err
		}
		for _, d := range into[:n] {
			pairs = append(pairs, []any{float64(d.Token.Offset), d.ID.String()})
		}
	}
	p.done = append(p.done, []any{"poll", map[string]any{topic: pairs}})
	if !p.open {
		return s.tell(p, contract.OK)
	}
	return nil
}

func (s *transactionScene) reader(p *txnProcess, topic string) (c broker.Consumer, err error) {
	if c = p.readers[topic]; c == nil {
		c, err = s.engine.Consumer(s.ctx, broker.ConsumerSpec{Name: p.name, From: topic})
		p.readers[topic] = c
	}
	return c, err
}

// end tells the transaction. What the broker refuses to end is not committed.
func (s *transactionScene) end(p *txnProcess, err error, class contract.Class) error {
	if _, refused := broker.Classify(err, contract.OK); err != nil {
		class = refused
	}
	p.open = false
	return s.tell(p, class)
}

// tell is what a process did, as a row of a case.
func (s *transactionScene) tell(p *txnProcess, class contract.Class) error {
	index := float64(len(s.order))
	s.order = append(s.order, p.name)
	kind := map[contract.Class]string{contract.OK: "ok", contract.Unknown: "info", contract.Rejected: "fail"}[class]
	done := p.done
	p.done = nil
	return s.telling.row(row{index, p.name, kind, "txn", done})
}

// judgement is what the rules of the whole log find.
func (s *transactionScene) judgement(run *history.Run, rules Rules) (j judgement, err error) {
	report, err := checkers.ExactLog(run, rules.without...)
	for i := range report.Findings {
		f := &report.Findings[i]
		rules.note(f.Rule)
		text := f.Rule + " " + s.about(f)
		j.findings = append(j.findings, text)
		if forbidden(f.Rule) {
			j.errors = append(j.errors, text)
		}
	}
	return j, err
}

// about is the message that a finding is about, or the processes.
func (s *transactionScene) about(f *checkers.LogFinding) string {
	if f.Place != "" {
		return word(s.telling.value(f.ID))
	}
	var names []string
	for _, op := range f.Ops {
		names = append(names, s.order[s.telling.indexes[op]])
	}
	return strings.Join(names, " ")
}

// forbidden tells whether no contract allows what a row counts.
func forbidden(rule string) bool {
	for _, r := range checkers.Rows() {
		if r.Name == rule {
			return r.Kind(&history.Header{}) == checkers.KindError
		}
	}
	return false
}
