// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"slices"
	"testing"
)

// TestEverythingComes: the seeds of every day do to a handler all that its broker may do,
// and nothing else.
func TestEverythingComes(t *testing.T) {
	everywhere := []deed{
		cutBeforeSettle, copyOnce, crashBeforeCall, crashBeforeSettle, crashAfterSettle, downBeforeSettle,
		failAtPoint, loseAnswer, crashAtPoint, panicAtPoint, stopAtPoint, pauseAtPoint, freezeAtPoint, poison, garbage,
	}
	only := map[Profile][]deed{
		Kafka:           {overlap, overlapCrash},
		SQSStandard:     {overlap, overlapCrash, spontaneousCopy, slowAtPoint},
		SQSFIFO:         {slowAtPoint},
		RabbitMQQuorum:  {overlap, overlapCrash},
		RabbitMQClassic: {overlap, overlapCrash},
	}
	for p, more := range only {
		t.Run(string(p), func(t *testing.T) {
			t.Parallel()
			came := cameIn(t, p, defaultSeeds)
			for d := cutBeforeSettle; d <= garbage; d++ {
				legal := slices.Contains(everywhere, d) || slices.Contains(more, d)
				if (came[d] > 0) != legal {
					t.Errorf("deed %d came %d times, legal: %v", d, came[d], legal)
				}
			}
		})
	}
}

// cameIn is what came to a handler that is right.
func cameIn(t *testing.T, p Profile, seeds uint64) map[deed]int {
	r, err := p.rules(virtualPace())
	if err != nil {
		t.Fatal(err)
	}
	x := newTrial(single(carefully), &r)
	if found := x.fit(t); found != nil {
		t.Fatal(found.story(t.Name()))
	}
	for _, f := range families() {
		for seed := range seeds {
			if o := x.play(t, x.shape.plan(f, seed+1)); o.worst() != nil {
				t.Fatalf("%s seed %d: %s", f.name, seed+1, o.worst().text)
			} else {
				x.tally.add(o)
			}
		}
	}
	return x.tally.done
}
