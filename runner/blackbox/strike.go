// SPDX-License-Identifier: Apache-2.0

package blackbox

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// What can be done to a worker.
const (
	doKill = "kill"
	// doKillAll: all workers at once, as when their machine goes down.
	doKillAll = "kill-all"
	doFreeze  = "freeze"
	doStop    = "stop"
	// doLose: the worker's requests reach the broker and no answer comes back.
	doLose = "lose-answers"
)

// doings lists them.
func doings() []string { return []string{doKill, doKillAll, doFreeze, doStop, doLose} }

// strike is one planned fault. A random one comes when the program is through with so many
// messages and has another in hand: what strikes an idle program shows nothing. The others
// come at an instant after the load began.
type strike struct {
	do     string
	random bool
	after  int
	at     time.Duration
	worker int           // or everybody
	last   time.Duration // of what ends by itself
}

// crashes tells whether what the program has in hand is cut short.
func (s strike) crashes() bool { return s.do == doKill || s.do == doKillAll || s.do == doFreeze }

func (s strike) String() string {
	text := fmt.Sprintf("%s %s at %s", s.do, WorkerName(s.worker), s.at.Round(time.Millisecond))
	if s.random {
		text = fmt.Sprintf("%s %s after %d messages", s.do, WorkerName(s.worker), s.after)
	}
	if s.last > 0 {
		text += fmt.Sprintf(" for %s", s.last)
	}
	return text
}

// Share of the messages before which and after which no random fault strikes: the ends
// have little in flight, and the program may get on while a fault waits for its instant.
const (
	firstShare = 0.1
	lastShare  = 0.8
)

// schedule draws the random faults and copies from the seed.
func (p *Plan) schedule() {
	draw := rand.New(rand.NewPCG(p.Seed, 0x626c61636b626f78))
	for _, kind := range []struct {
		do string
		n  int
	}{{doKill, p.Kill}, {doFreeze, p.Freeze}, {doStop, p.Stop}, {doLose, p.LoseAnswers}, {doKillAll, p.KillAll}} {
		for range kind.n {
			share := firstShare + draw.Float64()*(lastShare-firstShare)
			after := max(int(share*float64(p.Messages)), 1)
			p.strikes = append(p.strikes, strike{do: kind.do, random: true, after: after, worker: draw.IntN(p.Workers)})
		}
	}
	for _, f := range p.Faults {
		s := strike{do: f.Do, at: f.At, worker: draw.IntN(p.Workers), last: f.For}
		if f.Worker != nil {
			s.worker = *f.Worker
		}
		p.strikes = append(p.strikes, s)
	}
	for i := range p.strikes {
		if p.strikes[i].do == doKillAll {
			p.strikes[i].worker = everybody
		}
	}
	slices.SortStableFunc(p.strikes, func(a, b strike) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.after, b.after))
	})
	p.copies(draw)
}

// farthest is how many messages later a copy is published at most.
const farthest = 10

// copies chooses the messages that are published twice, some messages apart.
func (p *Plan) copies(draw *rand.Rand) {
	p.again = map[int][]int{}
	for _, n := range draw.Perm(p.Messages)[:p.Duplicate] {
		after := min(n+draw.IntN(farthest), p.Messages-1)
		p.again[after] = append(p.again[after], n)
	}
}
