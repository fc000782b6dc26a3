// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"errors"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/broker"
)

// txnScript is a script with a transactional producer.
type txnScript struct {
	*script
	tx Session
}

func newTxnScript(t *testing.T, opts Options) txnScript {
	t.Helper()
	s := txnScript{script: newScript(t, "kafka", opts, broker.Destination{Name: "q"})}
	s.tx = s.open("tx")
	return s
}

func (s txnScript) open(id string) Session {
	s.t.Helper()
	tx, err := s.m.OpenProducer(s.now, broker.ProducerSpec{TransactionID: id})
	if err != nil {
		s.t.Fatal(err)
	}
	return tx
}

func (s txnScript) publish(from Session, number uint64, name string) string {
	_, err := s.m.Publish(s.now, from, number, s.message(name))
	return outcome(err)
}

func (s txnScript) want(what, got, want string) {
	s.t.Helper()
	if got != want {
		s.t.Fatalf("%s: %s, want %s", what, got, want)
	}
}

// A commit that names a partition that is not there changes nothing, and the transaction goes on.
func TestCommitIsAllOrNothing(t *testing.T) {
	s := newTxnScript(t, Options{})
	s.want("begin", outcome(s.m.Begin(0, s.tx, 0)), "ok")
	s.want("publish", s.publish(s.tx, 0, "a1"), "ok")
	offsets := []broker.OffsetCommit{{Group: "g", Destination: "q", Next: 1}, {Group: "g", Destination: "q", Partition: 7}}
	s.want("commit", outcome(s.m.Commit(0, s.tx, offsets)), "not-found")
	s.run(`
		depth q g = 0/0/1
		get A 9 =`)
	s.want("commit", outcome(s.m.Commit(0, s.tx, offsets[:1])), "ok")
	s.run(`depth q g = 0/1/2`)
}

// An attempt that arrives when its transaction has ended is not one of the next.
func TestLateAttemptIsFenced(t *testing.T) {
	s := newTxnScript(t, Options{})
	s.want("begin", outcome(s.m.Begin(0, s.tx, 0)), "ok")
	s.want("abort", outcome(s.m.Abort(0, s.tx)), "ok")
	s.want("begin", outcome(s.m.Begin(0, s.tx, 1)), "ok")
	s.want("late", s.publish(s.tx, 0, "a1"), "stale")
	s.want("in time", s.publish(s.tx, 1, "a2"), "ok")
	s.want("commit", outcome(s.m.Commit(0, s.tx, nil)), "ok")
	s.run(`
		at 1s
		get A 9 =
		at 2s
		get A 9 = a2`)
}

func TestTransactionTimeout(t *testing.T) {
	s := newTxnScript(t, Options{})
	s.want("begin", outcome(s.m.Begin(0, s.tx, 0)), "ok")
	s.until(time.Hour) // nothing was written: there is nothing to abort
	s.want("publish", s.publish(s.tx, 0, "a1"), "ok")
	s.run(`
		send a2
		get A 9 =
		at 1h59s
		get A 9 =
		at 1h60s
		get A 9 = a2`)
	for what, want := range map[string]string{"commit": invalidEpoch, "abort": producerFenced, "begin": invalidEpoch} {
		end := map[string]func() error{
			"begin":  func() error { return s.m.Begin(s.now, s.tx, 1) },
			"commit": func() error { return s.m.Commit(s.now, s.tx, nil) },
			"abort":  func() error { return s.m.Abort(s.now, s.tx) },
		}[what]
		var own *broker.Error
		if err := end(); !errors.As(err, &own) || own.Code != want || !errors.Is(err, broker.ErrStale) {
			t.Errorf("%s after the timeout: %v, want %s and stale", what, err, want)
		}
	}
	s.want("begin of a new producer", outcome(s.m.Begin(s.now, s.open("tx"), 0)), "ok")
}

func TestTransactionsOutOfTurn(t *testing.T) {
	s := newTxnScript(t, Options{})
	s.want("publish outside", s.publish(s.tx, 0, "a1"), "refused")
	s.want("commit outside", outcome(s.m.Commit(0, s.tx, nil)), "closed")
	s.want("abort outside", outcome(s.m.Abort(0, s.tx)), "closed")
	s.want("begin", outcome(s.m.Begin(0, s.tx, 0)), "ok")
	s.want("begin again", outcome(s.m.Begin(0, s.tx, 0)), "closed")
	s.want("begin without an id", outcome(s.m.Begin(0, s.producer, 0)), "unsupported")
}
