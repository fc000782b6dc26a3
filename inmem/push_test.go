// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/broker"
)

// pushRow is one rule of a push queue, held by each of the profiles.
type pushRow struct {
	name     string
	profiles []string
	limit    int
	timeout  time.Duration
	script   string
}

const (
	classic310 = "rabbitmq-3.10-classic"
	classic40  = "rabbitmq-4.0-classic"
	quorum310  = "rabbitmq-3.10-quorum"
	quorum40   = "rabbitmq-4.0-quorum"
)

var (
	classics = []string{classic310, classic40}
	quorums  = []string{quorum310, quorum40}
	rabbits  = []string{classic310, classic40, quorum310, quorum40}
)

func (r pushRow) destinations() []broker.Destination {
	return []broker.Destination{
		{Name: "q", MaxDeliveries: r.limit, DeadLetter: "dead", Lease: r.timeout},
		{Name: "dead", MaxDeliveries: r.limit, DeadLetter: "dead-2"},
		{Name: "dead-2"}, {Name: "plain"},
		{Name: "x", Kind: broker.Exchange, Bindings: map[string]string{"dead": "r", "dead-2": ""}},
	}
}

func runPushRows(t *testing.T, rows []pushRow) {
	t.Helper()
	for _, r := range rows {
		for _, profile := range r.profiles {
			t.Run(profile+"/"+r.name, func(t *testing.T) {
				newScript(t, profile, Options{}, r.destinations()...).run(r.script)
			})
		}
	}
}

const send12 = `
	send a1 a2 a3 a4 a5 a6 a7 a8 a9 a10 a11 a12
`

func TestDeliveryLimit(t *testing.T) {
	runPushRows(t, []pushRow{
		{name: "limit 2 is 3 deliveries, by nack", profiles: quorums, limit: 3, script: `
			send a1
			get A 1 = a1
			nack A a1
			get A 1 = a1*(2)
			nack A a1
			get A 1 = a1*(3)
			nack A a1
			get A 1 =
			open D from=dead
			get D 1 = a1`},
		{name: "and by the death of the channel", profiles: quorums, limit: 2, script: `
			send a1
			get A 1 = a1
			vanish A
			get B 1 = a1*(2)
			leave B
			get C 1 =
			open D from=dead
			get D 1 = a1`},
		{name: "limit 0 is one delivery", profiles: quorums, limit: 1, script: `
			send a1
			get A 1 = a1
			nack A a1
			depth q = 0/0
			depth dead = 1/0`},
		{name: "a prefetched message counts without a handler", profiles: quorums, limit: 2, script: `
			send a1 a2
			open A prefetch=2
			get A 1 = a1
			vanish A
			get B 2 = a1*(2) a2*(2)
			vanish B
			depth dead = 2/0`},
		{name: "the count restarts in the dead-letter queue", profiles: quorums, limit: 2, script: `
			send a1
			get A 1 = a1
			nack A a1
			get A 1 = a1*(2)
			nack A a1
			open D from=dead
			get D 1 = a1
			nack D a1
			get D 1 = a1*(2)
			nack D a1
			depth dead-2 = 1/0`},
		{name: "a rejected one", profiles: []string{quorum310}, limit: 3, script: `
			send a1
			get A 1 = a1
			reject A a1
			open D from=dead
			get D 1 = a1
			nack D a1
			get D 1 = a1*(2)`},
		{name: "a rejected one carries a count", profiles: []string{quorum40}, limit: 3, script: `
			send a1
			get A 1 = a1
			reject A a1
			open D from=dead
			get D 1 = a1*(2)
			nack D a1
			get D 1 = a1*(2)
			nack D a1
			get D 1 = a1*(3)
			reject D a1
			open E from=dead-2
			get E 1 = a1*(3)`},
		{name: "classic has the flag alone", profiles: classics, script: `
			send a1
			get A 1 = a1
			nack A a1
			get A 1 = a1*
			nack A a1
			get A 1 = a1*`},
	})
}

func TestDefaultDeliveryLimit(t *testing.T) {
	for profile, deliveries := range map[string]int{quorum40: 21, quorum310: 0, classic40: 0} {
		s := newScript(t, profile, Options{}, broker.Destination{Name: "q"})
		s.run("send a1")
		for i := 1; i <= 40; i++ {
			got := s.get("A", 1, 0)
			if gone := deliveries > 0 && i > deliveries; gone != (got == "") {
				t.Fatalf("%s: delivery %d is %q", profile, i, got)
			}
			if got != "" {
				s.run("nack A a1")
			}
		}
	}
}

func TestRequeuePlace(t *testing.T) {
	runPushRows(t, []pushRow{
		{name: "nack, 10 delivered", profiles: []string{classic310, classic40}, script: send12 + `
			get A 3 = a1 a2 a3
			nack A a3
			get A 9 = a4 a5 a6 a7 a8 a9 a10 a3*`},
		{name: "nack, 10 delivered", profiles: []string{quorum40}, script: send12 + `
			get A 3 = a1 a2 a3
			nack A a3
			get A 9 = a4 a5 a6 a7 a8 a9 a10 a3*(2)`},
		{name: "nack, 10 delivered, no limit: last", profiles: []string{quorum310}, script: send12 + `
			get A 3 = a1 a2 a3
			nack A a3
			get A 9 = a4 a5 a6 a7 a8 a9 a10 a11
			ack A a1 a2
			get A 9 = a12 a3*(2)`},
		{name: "nack, 10 delivered, with a limit: first", profiles: []string{quorum310}, limit: 9, script: send12 + `
			get A 3 = a1 a2 a3
			nack A a3
			get A 9 = a4 a5 a6 a7 a8 a9 a10 a3*(2)`},
		{name: "several at once", profiles: []string{classic40}, script: send12 + `
			open A prefetch=4
			get A 4 = a1 a2 a3 a4
			nack-up-to A a3
			get A 9 = a1* a2* a3*`},
		{name: "in another order, original place", profiles: []string{classic40}, script: `
			send a1 a2 a3 a4 a5
			open A prefetch=4 batch=4
			get A 4 = a1 a2 a3 a4
			open B prefetch=1
			get B 1 = a5
			nack A a4 a2 a1 a3     # each goes out again as soon as there is room
			get A 9 = a4* a2* a1* a3*`},
		{name: "in the order of return, at the head", profiles: []string{quorum40}, script: `
			send a1 a2 a3 a4 a5 a6
			open A prefetch=4
			get A 4 = a1 a2 a3 a4
			leave A
			get B 9 = a1*(2) a2*(2) a3*(2) a4*(2) a5 a6`},
		{name: "the channel's death puts them first, also without a limit", profiles: []string{quorum310}, script: `
			send a1 a2 a3 a4 a5 a6
			open A prefetch=4
			get A 2 = a1 a2
			vanish A
			get B 9 = a1*(2) a2*(2) a3*(2) a4*(2) a5 a6`},
		{name: "the channel's death puts them back", profiles: classics, script: `
			send a1 a2 a3 a4 a5
			open A prefetch=3
			get A 3 = a1 a2 a3
			ack A a2
			vanish A
			get B 9 = a1* a3* a4* a5`},
	})
}

func TestSettlingTags(t *testing.T) {
	runPushRows(t, []pushRow{
		{name: "double ack closes the channel", profiles: classics, script: `
			send a1 a2
			get A 2 = a1 a2
			ack A a1
			ack A a1             # nobody answers
			heard = A open, A close 406
			get A 1 = closed
			ack A a2 = closed
			get B 5 = a2*`},
		{name: "nack after ack", profiles: classics, script: `
			send a1
			get A 1 = a1
			ack A a1
			nack A a1
			get A 1 = closed
			get B 5 =`},
		{name: "ack on another channel", profiles: classics, script: `
			send a1 a2
			open A prefetch=2
			get A 2 = a1 a2
			get B 1 =
			ack B A/a2
			get B 1 = closed
			depth q = 0/2`},
		{name: "a tag that happens to be known there", profiles: classics, script: `
			send a1 a2
			open A prefetch=1
			get A 1 = a1
			get B 1 = a2
			ack B A/a1           # acks a2
			depth q = 0/1
			vanish B
			vanish A
			get C 5 = a1*`},
		{name: "ack up to with nothing left", profiles: classics, script: `
			send a1 a2
			get A 2 = a1 a2
			ack-up-to A a2
			depth q = 0/0
			ack-up-to A a2
			get A 1 = closed`},
		{name: "ack up to", profiles: rabbits, script: `
			send a1 a2 a3
			get A 3 = a1 a2 a3
			ack A a1
			ack-up-to A a2
			depth q = 0/1`},
		{name: "what is buffered is dropped with the channel", profiles: classics, script: `
			send a1 a2 a3
			get A 1 = a1
			ack A a1
			ack A a1
			get A 5 = closed
			get B 5 = a2* a3*`},
		{name: "auto-ack forgets what it sends", profiles: rabbits, script: `
			send a1 a2 a3
			open A autoack=true prefetch=9
			get A 1 = a1
			depth q = 0/0
			vanish A
			get B 5 =`},
		{name: "verbs that it does not have", profiles: rabbits, script: `
			send a1
			get A 1 = a1
			extend A a1 5s = unsupported
			nack A a1 5s = unsupported
			commit A a1 = unsupported`},
	})
}

func TestPrefetch(t *testing.T) {
	runPushRows(t, []pushRow{
		{name: "up to the window", profiles: rabbits, script: `
			send a1 a2 a3 a4 a5
			open A prefetch=2
			get A 9 = a1 a2
			depth q = 3/2
			get B 9 = a3 a4 a5`},
		{name: "each in turn", profiles: rabbits, script: `
			open A prefetch=9
			open B prefetch=9
			send a1 a2 a3 a4
			get B 9 = a1 a3
			get A 9 = a2 a4`},
		{name: "room wakes a waiting one", profiles: rabbits, script: `
			send a1 a2
			open A prefetch=1
			get A 1 = a1
			wait A 1 9s =
			ack A a1
			woken = A
			get A 1 = a2`},
	})
}

func TestConsumerTimeout(t *testing.T) {
	runPushRows(t, []pushRow{
		{name: "at the first tick after it", profiles: []string{classic40}, timeout: 2 * time.Second, script: `
			send a1 a2
			open A session=10m
			get A 2 = a1 a2
			at 1s
			ack A a2             # the oldest counts
			at 59s
			get B 5 =
			at 60s
			heard = A open, B open, A close 406
			get B 5 = a1*`},
		{name: "no tick, no close", profiles: []string{quorum40}, timeout: 2 * time.Second, script: `
			send a1
			open A session=10m
			get A 2 = a1
			at 59s
			ack A a1
			at 300s
			get A 1 =`},
		{name: "half an hour unless told otherwise", profiles: rabbits, script: `
			send a1
			open A session=10h
			get A 2 = a1
			at 30m1s
			get A 1 = closed`},
	})
}

func TestHeartbeatOfAConnection(t *testing.T) {
	runPushRows(t, []pushRow{
		{name: "the second silent tick ends it", profiles: classics, script: `
			send a1
			open A session=2s
			get A 1 = a1
			at 1.5s
			beat A
			at 5.9s
			depth q = 0/1
			at 6s
			depth q = 1/0
			get A 1 = closed`},
		{name: "a settlement is heard too", profiles: classics, script: `
			send a1 a2
			open A session=2s
			get A 2 = a1 a2
			at 3s
			ack A a1
			at 7.9s
			depth q = 0/1
			at 8s
			depth q = 1/0`},
	})
}

func TestRouting(t *testing.T) {
	runPushRows(t, []pushRow{
		{name: "by key and to all", profiles: rabbits, script: `
			send a1,to:x,route:r a2,to:x,route:other
			depth dead = 1/0
			depth dead-2 = 2/0`},
		{name: "unroutable is acked and gone", profiles: rabbits, script: `
			send a1,to:nowhere
			remove plain
			send a2,to:plain`},
		{name: "reject without a dead-letter queue drops", profiles: rabbits, script: `
			send a1,to:plain
			open A from=plain
			get A 1 = a1
			reject A a1
			depth plain = 0/0`},
		{name: "reject dead-letters", profiles: rabbits, script: `
			send a1
			get A 1 = a1
			reject A a1
			depth dead = 1/0`},
		{name: "purge leaves what is unacked", profiles: rabbits, script: `
			send a1 a2
			open A prefetch=1
			get A 1 = a1
			purge q
			depth q = 0/1`},
		{name: "a removed queue closes its channels", profiles: rabbits, script: `
			send a1
			get A 1 = a1
			remove q
			get A 1 = closed
			depth q = not-found`},
	})
}

func TestMandatoryReturns(t *testing.T) {
	s := newScript(t, quorum40, Options{}, broker.Destination{Name: "q"})
	var err error
	s.producer, err = s.m.OpenProducer(0, broker.ProducerSpec{Mandatory: true})
	if err != nil {
		t.Fatal(err)
	}
	s.run(`
		send a1
		send a2,to:nowhere = returned
		depth q = 1/0`)
}
