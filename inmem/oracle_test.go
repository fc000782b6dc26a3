// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"strings"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/contract/profiles"
)

// TestOracle: what really happened, in the words of the engine.
func TestOracle(t *testing.T) {
	for _, c := range []struct {
		profile, script, want string
		bugs                  []Bug
	}{
		{"kafka", `
			send a1
			get A 1 = a1
			commit A a1`, "stored delivered settled", nil},
		{"kafka", `
			send a1`, "dropped:lose-acked", []Bug{{Name: LoseAcked}}},
		{"sqs", `
			send a1
			get A 1 = a1
			at 2s
			get A 1 = a1(2)
			nack A a1
			get A 1 =
			open D from=dead
			get D 1 = a1(3)
			ack D a1`, "stored delivered expired delivered returned dead-lettered stored:dead-letter delivered settled", nil},
		{"sqs-fifo", `
			send a1 a1
			purge q`, "stored swallowed dropped:purged", nil},
		{"rabbitmq", `
			send a1
			get A 1 = a1
			vanish A
			get B 1 = a1*(2)
			nack B a1`, "stored delivered returned delivered stored:dead-letter dead-lettered:delivery_limit", nil},
		{"rabbitmq", `
			send a1,to:nowhere`, "dropped:unroutable", nil},
		{"rabbitmq", `
			open A autoack=true
			send a1
			vanish A`, "stored delivered settled:auto-ack dropped:auto-ack", nil},
	} {
		t.Run(c.profile, func(t *testing.T) {
			p, _ := profiles.Named(c.profile)
			p.Knobs[profiles.ClaimStart] = "0s"
			var told []string
			opts := Options{Bugs: c.bugs, Oracle: func(e OracleEvent) {
				text := e.Kind.String()
				if e.Why != "" && e.Why != "g" {
					text += ":" + e.Why
				}
				told = append(told, text)
			}}
			q := broker.Destination{Name: "q"}
			if p.Model != contract.Log {
				q.MaxDeliveries, q.DeadLetter = 2, "dead"
			}
			if p.Model == contract.LeaseQueue {
				q.Lease = 2 * time.Second
			}
			newScriptOf(t, p, opts, broker.Destination{Name: "dead"}, q).run(c.script)
			if got := strings.Join(told, " "); got != c.want {
				t.Errorf("told %q,\nwant %q", got, c.want)
			}
		})
	}
}

func TestInFlightCap(t *testing.T) {
	for _, profile := range []string{"sqs", "sqs-fifo"} {
		t.Run(profile, func(t *testing.T) {
			p, _ := profiles.Named(profile)
			p.Knobs[profiles.MaxInFlight] = "2"
			newScriptOf(t, p, Options{}, broker.Destination{Name: "q", Lease: 2 * time.Second}).run(`
				send a1 b1 c1 d1
				get A 1 = a1
				get A 9 = b1
				get A 9 =
				wait B 1 9s =
				ack A a1
				woken = B
				get B 9 = c1`)
		})
	}
}
