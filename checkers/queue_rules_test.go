// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/history"
)

func TestSingleActiveConsumer(t *testing.T) { check(t, singleActiveStories()) }

func singleActiveStories() []story {
	single := func() *tale {
		t := tell(rabbitmq)
		t.header.Destinations[0].SingleActive = true
		return t
	}
	two := func() *tale { return single().publish("p0/0").work("w0", "p0/0").publish("p0/1").work("w1", "p0/1") }
	return []story{
		{"one after the other died", single().publish("p0/0").work("w0", "p0/0").crash("w0").publish("p0/1").work("w1", "p0/1").drained(), ""},
		{"two take turns", two().publish("p0/2").work("w0", "p0/2").drained(), "two-active p0/2"},
		{"the former may have been cancelled", two().drained(), ""},
		{"what was pushed before is in its buffer", single().publish(ids(0, 2)...).work("w0", "p0/0").work("w1", "p0/1").work("w0", "p0/2").drained(), ""},
		{"any two elsewhere", tell(rabbitmq).publish("p0/0").work("w0", "p0/0").publish("p0/1").work("w1", "p0/1").publish("p0/2").work("w0", "p0/2").drained(), ""},
		{"nothing happened", single().drained(), ""},
	}
}

func TestTimeToLive(t *testing.T) { check(t, mortalStories()) }

func mortalStories() []story {
	mortal := func(deadLetter string) *tale {
		t := tell(rabbitmq)
		t.header.Profile.Tolerance = 0
		t.header.Destinations[0].TTL, t.header.Destinations[0].DeadLetter = time.Second, deadLetter
		if deadLetter != "" {
			t.header.Destinations = append(t.header.Destinations, history.Destination{Name: deadLetter, Broker: deadLetter, DeadLetterOf: "orders"})
		}
		return t
	}
	kept := func() *tale {
		t := tell(sqs)
		t.header.Profile.Tolerance, t.header.Destinations[0].TTL = 0, time.Second
		return t.opened("w0").publish("p0/0").at(5000)
	}
	returned := func() *tale { return mortal("").publish("p0/0").deliver("w0", "p0/0").fail("w0", "p0/0") }
	return []story{
		{"done in time", mortal("").publish("p0/0").work("w0", "p0/0").drained(), ""},
		{"expired, and nobody got it", mortal("").publish("p0/0").at(5000).drained(), "policy-drop p0/0"},
		{"expired into the dead-letter queue", mortal("orders-dlq").publish("p0/0").at(5000).drained().found("orders-dlq", "p0/0").audited("orders-dlq"), "dead-lettered p0/0"},
		{"expired, and not in the dead-letter queue", mortal("orders-dlq").publish("p0/0").at(5000).drained().audited("orders-dlq"), "lost-in-dead-lettering p0/0"},
		{"gone before its time", mortal("").publish("p0/0").drained(), "lost-undelivered p0/0"},
		{"given back in time", returned().nack("w0", "p0/0").redelivered("w0", "p0/0").drained(), "redelivered p0/0"},
		{"given back too late and handed out", returned().at(3000).nack("w0", "p0/0").redelivered("w0", "p0/0").drained(), "expired-delivered p0/0; redelivered p0/0"},
		{"given back too late and dropped", returned().at(3000).nack("w0", "p0/0").at(4000).drained(), "policy-drop p0/0"},
		{"waited in a client's buffer", mortal("").publish("p0/0").at(5000).work("w0", "p0/0").drained(), ""},
		{"asked for in time, of a queue that hands out at once", kept().work("w0", "p0/0").drained(), ""},
		{"asked for too late", kept().polled("w0").work("w0", "p0/0").drained(), "expired-delivered p0/0"},
		{"handed to who came later", mortal("").publish("p0/0").at(5000).opened("w0").work("w0", "p0/0").drained(), "expired-delivered p0/0"},
	}
}

// opened begins a worker's session.
func (t *tale) opened(worker string) *tale {
	t.add(history.Event{Kind: history.SessionOpen, Session: t.session(worker)})
	return t
}
