// SPDX-License-Identifier: Apache-2.0

package blackbox

import (
	"testing"

	"github.com/seed-720a3c77/harness/runner/spawn"
)

// TestGrasp: one fault at a worker at a time; a random crash takes another that lives.
func TestGrasp(t *testing.T) {
	r := &run{}
	for n := range 3 {
		r.workers = append(r.workers, &worker{run: r, number: n, process: &spawn.Process{}})
	}
	r.workers[0].process = nil // it is dead
	kill := strike{do: doKill, random: true, worker: 2}
	first := r.grasp(kill)
	if first == nil || first.target(kill) != "consumer/2" {
		t.Fatalf("%+v, want the worker that was drawn", first)
	}
	second := r.grasp(kill)
	if second == nil || second.target(kill) != "consumer/1" {
		t.Fatalf("%+v, want the other that lives", second)
	}
	everything := strike{do: doKillAll, random: true, worker: everybody}
	for _, one := range []strike{kill, everything, {do: doKill, worker: 2}, {do: doStop, random: true, worker: 2}} {
		if g := r.grasp(one); g != nil {
			t.Errorf("%s: %+v, want nobody", one, g)
		}
	}
	second.release()
	first.release()
	if g := r.grasp(everything); g == nil || len(g.struck) != 3 || g.target(everything) != "consumer" {
		t.Errorf("%+v, want all: nobody was left taken", g)
	}
}

// TestWhoseHandIsSeen: a program that is asked for its effects itself must not stand still.
func TestWhoseHandIsSeen(t *testing.T) {
	for _, test := range []struct {
		do     string
		source Source
		look   bool
		want   bool
	}{
		{doKill, &Stdout{}, true, true},
		{doKillAll, &Query{}, true, true},
		{doFreeze, &Hook{}, true, true},
		{doStop, &Stdout{}, true, false},
		{doKill, &Poll{}, true, false},
		{doKill, &Stdout{}, false, false},
	} {
		r := &run{Config: Config{Source: test.source}, plan: &Plan{}}
		if test.look {
			r.plan.Look = Defaults().Look
		}
		if got := r.showsHand(strike{do: test.do}); got != test.want {
			t.Errorf("%s, effects in a %T, look %v: %v", test.do, test.source, test.look, got)
		}
	}
}
