// SPDX-License-Identifier: Apache-2.0

package rabbitmq

import (
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"pgregory.net/rapid"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

// frames stands in for what the client saw of each publish.
type frames struct{ acked bool }

func (f *frames) Acked() bool { return f.acked }

// bench is an outlet whose answers are kept by the name of the publish.
type bench struct {
	*outlet
	answers map[string]error
	twice   []string
}

func newBench(size int, timeout time.Duration) *bench {
	b := &bench{outlet: newOutlet(nil, 1, size, timeout), answers: map[string]error{}}
	b.answer = func(done func(broker.Receipt, error), err error) { done(broker.Receipt{}, err) }
	return b
}

// begin is a publish whose call has not returned.
func (b *bench) begin(name, exchange string) uint64 {
	return b.admit(pending{envelope: name, exchange: exchange, done: func(_ broker.Receipt, err error) {
		if _, again := b.answers[name]; again {
			b.twice = append(b.twice, name)
		}
		b.answers[name] = err
	}})
}

func (b *bench) sent(name, exchange string) (uint64, *frames) {
	f := &frames{}
	tag := b.begin(name, exchange)
	b.prove(tag, f)
	return tag, f
}

func (b *bench) giveBack(name string) {
	b.returned(amqp.Return{ReplyCode: 312, ReplyText: "NO_ROUTE", Headers: amqp.Table{msg.HeaderName: name}})
}

// says is the answer of every publish, in words.
func (b *bench) says() map[string]string {
	all := map[string]string{}
	for name, err := range b.answers {
		answer, class := broker.Classify(err, contract.OK)
		all[name] = fmt.Sprint(answer, " ", class)
	}
	return all
}

func (b *bench) want(t *testing.T, want map[string]string) {
	t.Helper()
	if got := b.says(); !maps.Equal(got, want) {
		t.Errorf("answers %v, want %v", got, want)
	}
	if len(b.twice) > 0 {
		t.Errorf("answered twice: %v", b.twice)
	}
}

func TestReturnedOutranksAck(t *testing.T) {
	b := newBench(4, 0)
	b.sent("routed", "")
	tag, f := b.sent("lost", "")
	b.giveBack("lost")
	b.window.at(1).proof.(*frames).acked, f.acked = true, true
	b.settle(tag)
	b.want(t, map[string]string{"routed": "acked ok", "lost": "returned rejected"})
}

func TestEqualEnvelopesAreReturnedInOrder(t *testing.T) {
	b := newBench(4, 0)
	b.sent("same", "")
	b.sent("same", "")
	b.giveBack("same")
	if first, second := b.window.at(1).returned, b.window.at(2).returned; first == nil || second != nil {
		t.Errorf("returned %v and %v, want the first alone", first, second)
	}
}

// TestNackIsNotOverwritten: the client says ack for a nacked tag that an "ack up to" passed.
func TestNackIsNotOverwritten(t *testing.T) {
	b := newBench(4, 0)
	_, first := b.sent("a", "")
	b.sent("nacked", "")
	tag, last := b.sent("b", "")
	first.acked, last.acked = true, true
	b.settle(tag)
	b.want(t, map[string]string{"a": "acked ok", "nacked": "nacked unknown", "b": "acked ok"})
}

func TestConfirmOvertakesPublishCall(t *testing.T) {
	b := newBench(2, 0)
	tag := b.begin("a", "")
	b.settle(tag)
	b.want(t, map[string]string{})
	b.prove(tag, &frames{acked: true})
	b.want(t, map[string]string{"a": "acked ok"})
}

func TestLostChannel(t *testing.T) {
	b := newBench(8, 0)
	_, acked := b.sent("acked out of order", "")
	b.sent("open", "")
	b.sent("returned", "")
	b.giveBack("returned")
	tag := b.begin("in the call", "")
	acked.acked = true
	b.lost(&amqp.Error{Code: amqp.FrameError, Reason: "EOF"})
	want := map[string]string{"acked out of order": "acked ok", "open": "closed unknown", "returned": "returned rejected"}
	b.want(t, want)
	b.prove(tag, &frames{})
	want["in the call"] = "closed unknown"
	b.want(t, want)
}

func TestMissingExchangeProvesTheLast(t *testing.T) {
	b := newBench(8, 0)
	b.sent("before", "")
	b.sent("first", "x")
	b.sent("last", "x")
	b.sent("after", "")
	b.lost(&amqp.Error{Code: amqp.NotFound, Reason: "NOT_FOUND - no exchange 'x' in vhost '/'", Server: true})
	b.want(t, map[string]string{
		"before": "closed unknown", "first": "closed unknown", "last": "refused rejected", "after": "refused rejected",
	})
	if !errors.Is(b.answers["last"], broker.ErrNotFound) {
		t.Errorf("%v is not ErrNotFound", b.answers["last"])
	}
}

func TestFailedPublishCallIsWithdrawn(t *testing.T) {
	b := newBench(2, 0)
	first := b.begin("a", "")
	b.withdraw()
	if second, f := b.sent("b", ""); second != first {
		t.Errorf("the next tag is %d, want %d again", second, first)
	} else {
		f.acked = true
		b.settle(second)
	}
	b.want(t, map[string]string{"b": "acked ok"})
}

func TestOverdueIsAnsweredOnce(t *testing.T) {
	const timeout = time.Minute
	b := newBench(2, timeout)
	tag, f := b.sent("late", "")
	b.expire(time.Now())
	b.want(t, map[string]string{})
	b.expire(time.Now().Add(2 * timeout))
	f.acked = true
	b.settle(tag)
	b.want(t, map[string]string{"late": "timeout unknown"})
}

// TestEveryPublishIsAnsweredOnce drives an outlet at random beside a list of what became
// of each publish.
func TestEveryPublishIsAnsweredOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const size = 4
		b := newBench(size, 0)
		want := map[string]string{}
		var open []*frames
		var names []string
		for i := range rapid.IntRange(1, 40).Draw(t, "steps") {
			if step := rapid.SampledFrom([]string{"send", "ack", "nack", "return"}).Draw(t, "step"); step == "send" || len(open) == 0 {
				if len(open) < size {
					name := fmt.Sprint("m", i)
					_, f := b.sent(name, "")
					open, names = append(open, f), append(names, name)
				}
			} else if step == "return" {
				b.giveBack(names[0])
				want[names[0]] = "returned rejected"
			} else {
				open[0].acked = step == "ack"
				if want[names[0]] == "" {
					want[names[0]] = map[bool]string{true: "acked ok", false: "nacked unknown"}[open[0].acked]
				}
				b.settle(b.window.head)
				open, names = open[1:], names[1:]
			}
		}
		for _, name := range names {
			if want[name] == "" {
				want[name] = "closed unknown"
			}
		}
		b.lost(nil)
		if got := b.says(); !maps.Equal(got, want) || len(b.twice) > 0 {
			t.Fatalf("answers %v, want %v; twice %v", got, want, b.twice)
		}
	})
}
