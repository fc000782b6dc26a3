// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"context"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestAgenda compares the heap with a sorted list under random additions and removals.
func TestAgenda(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a agenda
		var model []entry
		for step := range rapid.IntRange(0, 60).Draw(t, "steps") {
			switch kind := rapid.IntRange(0, 9).Draw(t, "kind"); {
			case kind < 6 || len(model) == 0:
				at := time.Duration(rapid.IntRange(0, 9).Draw(t, "at"))
				e := entry{at, uint64(step) + rapid.Uint64Range(0, 1<<40).Draw(t, "tie")<<8, new(event)}
				a.add(e.at, e.tie, e.ev)
				model = append(model, e)
			case kind < 9:
				i := rapid.IntRange(0, len(model)-1).Draw(t, "which")
				a.remove(model[i].ev)
				a.remove(model[i].ev) // a no-op
				model = slices.Delete(model, i, i+1)
			default:
				at := time.Duration(rapid.IntRange(0, 9).Draw(t, "below"))
				drop := map[*event]bool{}
				model = slices.DeleteFunc(model, func(e entry) bool {
					drop[e.ev] = e.at < at
					return e.at < at
				})
				a.removeIf(func(ev *event) bool { return drop[ev] })
			}
		}
		slices.SortFunc(model, func(x, y entry) int {
			if x.before(&y) {
				return -1
			}
			return 1
		})
		for i, want := range model {
			if got := a[0]; got != want || got.ev.slot != 1 {
				t.Fatalf("entry %d is %+v, want %+v", i, got, want)
			}
			a.remove(want.ev)
		}
		if len(a) != 0 {
			t.Fatalf("%d entries left over", len(a))
		}
	})
}

// TestStoppedTimersLeaveTheHeap: thousands of unused poll timeouts must not pile up.
func TestStoppedTimersLeaveTheHeap(t *testing.T) {
	v := NewVirtual(1)
	defer v.Close()
	var pending []int
	run(t, v, func(ctx context.Context) {
		gate := v.NewGate("gate")
		stopped := v.At(ctx, time.Hour, func() { t.Error("called after Stop") })
		_, cancel := v.WithTimeout(ctx, time.Hour)
		waiter := v.Go(ctx, "waiter", func(ctx context.Context) { gate.WaitFor(ctx, 0, time.Hour) })
		victim := v.Go(ctx, "victim", func(ctx context.Context) {
			v.At(ctx, time.Hour, func() { t.Error("called for a dead owner") })
			v.Sleep(ctx, time.Hour)
		})
		v.Sleep(ctx, time.Second)
		pending = append(pending, len(v.agenda)) // timer, timeout, waiter, timer and sleep of victim
		if !stopped.Stop() || stopped.Stop() {
			t.Error("Stop must report true once")
		}
		cancel()
		pending = append(pending, len(v.agenda))
		gate.Wake()
		waiter.Join(ctx)
		pending = append(pending, len(v.agenda))
		victim.Kill()
		pending = append(pending, len(v.agenda))
	})
	if want := []int{5, 3, 2, 0}; !slices.Equal(pending, want) {
		t.Errorf("pending events %v, want %v", pending, want)
	}
}
