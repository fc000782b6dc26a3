// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract/profiles"
)

// pacing is a group in which everything takes time, and each thing its own.
func pacing() Pace {
	always := func(ms int) func() time.Duration {
		return func() time.Duration { return time.Duration(ms) * time.Millisecond }
	}
	later := 0
	return Pace{
		Release: always(50), Rebalance: always(100), Claim: always(5), Added: always(20),
		Answer: func() time.Duration { // the first at once, the second 10 ms later, and so on
			later++
			return time.Duration(later-1) * 10 * time.Millisecond
		},
	}
}

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
			at 200ms
			get A 1 = a1
			open B
			beat A
			at 240ms
			beat A                    # again, and gives nothing back twice
			commit A a1
			heard = A open, A assigned 0@0, A revoked 0
			at 260ms                  # it has joined, the answers are on their way
			get A 9 =
			heard = A close KError 27
			at 500ms
			get A 9 = a2 a3
			heard = A open, A assigned 0@1, B open`,
		"one after it is stale": `
			send a1 a2
			open A batch=1 prefetch=3
			at 200ms
			get A 1 = a1
			open B
			beat A
			at 260ms
			commit A a1 = stale
			at 500ms
			get A 9 = a1 a2`,
		"who leaves meanwhile is not waited for": `
			send a1 a2
			open A batch=1 prefetch=3
			at 200ms
			get A 1 = a1
			open B
			beat A
			leave A
			at 500ms
			get B 9 = a1 a2`,
		"a session of its own comes with each one's answers, and its claims after it": `
			open A
			at 104ms
			heard = A open
			at 110ms
			heard = A assigned 0@0
			open B
			beat A
			at 260ms                  # A has joined 50 ms after it gave back
			heard = A revoked 0, A close KError 27
			at 272ms                  # A's first session has had the first draw
			heard = A open
			at 285ms
			heard = A assigned 0@0, B open`,
		"a leave begins with what it had, and ends the membership later": `
			send a1
			open A
			at 200ms
			get A 1 = a1
			open B
			part A
			heard = A open, A assigned 0@0, A revoked 0
			beat A                    # it does not join again
			commit A a1
			get B 9 =
			leave A
			at 500ms
			send a2
			get B 9 = a2`,
		"a commit shows life": `
			send a1 a2
			open A session=6s
			at 500ms
			beat A
			get A 1 = a1
			at 6s
			commit A a1
			at 11s                    # 10.5 s after the last heartbeat
			get A 1 = a2
			commit A a2`,
	} {
		t.Run(name, func(t *testing.T) {
			p, err := profiles.Named("kafka")
			if err != nil {
				t.Fatal(err)
			}
			p.Knobs[profiles.ClaimStart], p.Knobs[profiles.RevokesAtOnce] = "0s", "true"
			newScriptOf(t, p, Options{Pace: pacing()}, broker.Destination{Name: "q", Partitions: 1}).run(text)
		})
	}
}

// TestACooperativeJoinIsInTheWay: a cooperative client goes on with its session while it joins,
// and what it commits meanwhile is refused: on its connection that is behind the join, and of the
// generation before. Its heartbeats are kept back until then. 133 commits of a storm on Kafka were
// refused where the model gave 3 to 17.
func TestACooperativeJoinIsInTheWay(t *testing.T) {
	p, err := profiles.Named("kafka")
	if err != nil {
		t.Fatal(err)
	}
	p.Knobs[profiles.ClaimStart], p.Knobs[profiles.RevokesAtOnce] = "0s", "true"
	s := newScriptOf(t, p, Options{Pace: pacing()}, broker.Destination{Name: "q", Partitions: 2})
	s.run(`
		send a1,part:0 b1,part:1 a2,part:0 b2,part:1
		open A strategy=cooperative-sticky
		at 200ms
		get A 9 = a1 a2 b1 b2
		heard = A open, A assigned 0@0, A assigned 1@0
		open B strategy=cooperative-sticky
		beat A
		at 240ms
		commit A a1
		at 260ms`)
	if a := s.session("A"); !s.m.KeepsBeat(s.now, a) || s.m.Joining(s.now, a) {
		t.Error("A has joined and is answered 100 ms later: its heartbeats wait for that, its commits for nothing")
	}
	s.run(`
		commit A a2 = stale
		at 370ms
		commit A a2
		heard = A revoked 1, B open
		at 440ms                  # it joined with 0, and B is waited for
		commit A a2 = stale`)
	if !s.m.Joining(s.now, s.session("A")) {
		t.Error("B has not joined again: what A asks waits for it")
	}
	s.run(`
		beat B
		at 1s
		heard = B assigned 1@0
		commit A a2`)
}
