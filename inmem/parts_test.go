// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

type alarm struct {
	at    time.Duration
	armed int
	rang  *[]*alarm
	deadline
}

func (a *alarm) expire(time.Duration) { *a.rang = append(*a.rang, a) }

// TestAgendaAgainstSort: deadlines fire in the order of time and arming, up to the instant
// asked for, and not when they were disarmed.
func TestAgendaAgainstSort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a agenda
		var rang, armed []*alarm
		arming := 0
		for i := range rapid.IntRange(0, 60).Draw(t, "alarms") {
			one := &alarm{rang: &rang}
			one.deadline.of = one
			armed = append(armed, one)
			// Arm it, and move or disarm another.
			for _, x := range []*alarm{one, armed[i/2]} {
				arming++
				x.at, x.armed = time.Duration(rapid.IntRange(0, 9).Draw(t, "at")), arming
				a.arm(&x.deadline, x.at)
			}
			if rapid.Bool().Draw(t, "disarm") {
				a.disarm(&armed[i/3].deadline)
				armed[i/3].at = -1
			}
		}
		until, included := time.Duration(rapid.IntRange(0, 10).Draw(t, "until")), rapid.Bool().Draw(t, "included")
		a.run(until, included)
		want := slices.DeleteFunc(slices.Clone(armed), func(x *alarm) bool {
			return x.at < 0 || x.at > until || x.at == until && !included
		})
		slices.SortFunc(want, func(x, y *alarm) int {
			if x.at != y.at {
				return int(x.at - y.at)
			}
			return x.armed - y.armed
		})
		if !slices.Equal(rang, want) {
			t.Fatalf("%d rang, want %d in another order", len(rang), len(want))
		}
	})
}

func TestRingAgainstSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r ring[int]
		var all []int
		for i := range rapid.IntRange(0, 3000).Draw(t, "operations") {
			if len(all) > 0 && rapid.IntRange(0, 2).Draw(t, "pop") == 0 {
				if got := r.pop(); got != all[0] {
					t.Fatalf("popped %d, want %d", got, all[0])
				}
				all = all[1:]
				continue
			}
			n := r.push(i)
			all = append(all, i)
			if *r.at(n) != i || !r.has(n) || r.has(n+1) {
				t.Fatalf("element %d is not at its number", i)
			}
		}
		if r.len() != len(all) {
			t.Fatalf("%d elements, want %d", r.len(), len(all))
		}
	})
}

func TestNextTick(t *testing.T) {
	for _, c := range []struct{ at, start, period, want time.Duration }{
		{5, 0, 0, 5}, {5, 0, 10, 10}, {10, 0, 10, 10}, {11, 0, 10, 20}, {11, 3, 10, 13}, {2, 3, 10, 3},
	} {
		if got := nextTick(c.at, c.start, c.period); got != c.want {
			t.Errorf("nextTick(%d, %d, %d) = %d, want %d", c.at, c.start, c.period, got, c.want)
		}
	}
}

func TestHandles(t *testing.T) {
	m := &Machine{}
	for _, want := range [][3]uint64{{0, 0, 0}, {1, 22, 333}, {7, 1 << 40, 9}} {
		a, b, c, ok := parse3(m.text3(want[0], want[1], want[2]))
		if !ok || [3]uint64{a, b, c} != want {
			t.Errorf("%v came back as %d %d %d, %t", want, a, b, c, ok)
		}
	}
	for _, text := range []string{"", "1", "1.2", "1.2.", "1..2", "1.2.3.4", "1.2.x", "-1.2.3", "1.2.99999999999999999999"} {
		if _, _, _, ok := parse3(text); ok {
			t.Errorf("%q was taken for a handle", text)
		}
	}
}

func TestTextsKeepWhatTheyMade(t *testing.T) {
	var x texts
	var all []string
	for i := range 2000 {
		all = append(all, x.add([]byte(strings.Repeat("x", i%7)+"-")))
	}
	for i, text := range all {
		if want := strings.Repeat("x", i%7) + "-"; text != want {
			t.Fatalf("text %d is %q, want %q", i, text, want)
		}
	}
}
