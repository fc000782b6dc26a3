// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract/profiles"
)

// TestARebalanceTakesItsTime: a client that gives back under a running handler puts its
// session away before it joins again, and its commits count until then: the coordinator
// still knows its generation. Who works on is a zombie from the revocation until the
// next assignment. A storm of rebalances on Kafka had 518 such handler runs; where all this
// took no time the model gave 167 to 298.
func TestARebalanceTakesItsTime(t *testing.T) {
	for name, text := range map[string]string{
		"a commit before it joins again counts": `
			send a1 a2 a3
			open A batch=1 prefetch=3
			at 1s
			get A 1 = a1
			open B
			beat A
			at 1040ms
			beat A                    # again, and gives nothing back twice
			commit A a1
			heard = A open, A assigned 0@0, A revoked 0
			at 1060ms                 # it has joined, the answers are on their way
			get A 9 =
			heard =
			at 1200ms
			get A 9 = a2 a3
			heard = A open, A assigned 0@1, B open`,
		"one after it is stale": `
			send a1 a2
			open A batch=1 prefetch=3
			at 1s
			get A 1 = a1
			open B
			beat A
			at 1060ms
			commit A a1 = stale
			at 1200ms
			get A 9 = a1 a2`,
		"who leaves meanwhile is not waited for": `
			send a1 a2
			open A batch=1 prefetch=3
			at 1s
			get A 1 = a1
			open B
			beat A
			leave A
			at 1200ms
			get B 9 = a1 a2`,
	} {
		t.Run(name, func(t *testing.T) {
			p, err := profiles.Named("kafka")
			if err != nil {
				t.Fatal(err)
			}
			p.Knobs[profiles.ClaimStart], p.Knobs[profiles.RevokesAtOnce] = "0s", "true"
			takes := Options{
				Release:   func() time.Duration { return 50 * time.Millisecond },
				Rebalance: func() time.Duration { return 100 * time.Millisecond },
			}
			newScriptOf(t, p, takes, broker.Destination{Name: "q", Partitions: 1}).run(text)
		})
	}
}
