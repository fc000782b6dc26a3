// SPDX-License-Identifier: Apache-2.0

package sqs

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/broker"
)

func openConsumer(t *testing.T, s *stub) broker.Consumer {
	t.Helper()
	consumer, err := openStub(t, s, Config{}).Consumer(t.Context(), broker.ConsumerSpec{From: "q"})
	if err != nil {
		t.Fatal(err)
	}
	return consumer
}

// TestSettleKeepsTheOrder: neighbours share a request, and no request overtakes another.
func TestSettleKeepsTheOrder(t *testing.T) {
	s := &stub{answers: answers{"DeleteMessageBatch": accept(nil), "ChangeMessageVisibilityBatch": accept(nil)}}
	c := openConsumer(t, s)
	var all []broker.Settlement
	add := func(verb broker.Verb, n int) {
		for range n {
			all = append(all, broker.Settlement{Verb: verb, Token: broker.Token{Handle: fmt.Sprint("h", len(all))}})
		}
	}
	add(broker.Ack, 12)
	add(broker.Requeue, 1)
	add(broker.Extend, 1)
	add(broker.Reject, 1)
	add(broker.Ack, 1)
	results := make([]error, len(all))
	c.Settle(t.Context(), all, results)
	var got []string
	for _, one := range s.calls {
		if entries := entriesOf(one); len(entries) > 0 {
			got = append(got, fmt.Sprint(one.op, " ", len(entries), " ", entries[0].ReceiptHandle))
		}
	}
	want := []string{"DeleteMessageBatch 10 h0", "DeleteMessageBatch 2 h10", "ChangeMessageVisibilityBatch 2 h12", "DeleteMessageBatch 1 h15"}
	if !slices.Equal(got, want) {
		t.Errorf("requests %q, want %q", got, want)
	}
	for i, err := range results {
		if refused := errors.Is(err, broker.ErrUnsupported); refused != (i == 14) || !refused && err != nil {
			t.Errorf("entry %d: %v", i, err)
		}
	}
}

func TestVisibilityInWholeSeconds(t *testing.T) {
	for _, c := range []struct {
		verb  broker.Verb
		delay time.Duration
		want  int
	}{
		{broker.Requeue, 0, 0},
		{broker.Requeue, time.Millisecond, 1},
		{broker.Requeue, 2 * time.Second, 2},
		{broker.Extend, 0, 1},
		{broker.Extend, 2001 * time.Millisecond, 3},
	} {
		s := &stub{answers: answers{"ChangeMessageVisibilityBatch": accept(nil)}}
		openConsumer(t, s).Settle(t.Context(), []broker.Settlement{{Verb: c.verb, Delay: c.delay}}, make([]error, 1))
		if got := entriesOf(s.calls[len(s.calls)-1]); len(got) != 1 || got[0].VisibilityTimeout != c.want {
			t.Errorf("%v for %v: %+v, want %d seconds", c.verb, c.delay, got, c.want)
		}
	}
}
