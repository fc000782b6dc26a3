// SPDX-License-Identifier: Apache-2.0

package clock

import "slices"

// Freeze implements Task.
func (t *virtualTask) Freeze() {
	v := t.v
	v.alive()
	if t.frozen {
		return
	}
	t.frozen = true
	v.frozen++
	if c := v.current; c.isFrozen() {
		c.doing = "runs"
		v.holds.keep(c)
		c.park()
	}
}

// Thaw implements Task.
func (t *virtualTask) Thaw() {
	v := t.v
	v.alive()
	if !t.frozen {
		return
	}
	t.frozen = false
	v.frozen--
	v.holds.rearm()
}

// isFrozen reports whether the task or one of its ancestors is frozen.
func (t *virtualTask) isFrozen() bool {
	for ; t != nil; t = t.parent {
		if t.frozen {
			return true
		}
	}
	return false
}

// holds are the acts that came due for frozen tasks, in the order in which they did.
// After a thaw they happen in that order, each as an event of its own, and before
// anything else of that instant, so that nothing newer overtakes them.
type holds struct {
	v    *Virtual
	acts []actor
	ev   event
}

func (h *holds) init(v *Virtual) { h.v, h.ev.act = v, h }

// wants reports whether what comes due for the owner has to be kept.
func (h *holds) wants(owner *virtualTask) bool {
	return h.v.frozen > 0 && owner.isFrozen()
}

func (h *holds) keep(act actor) { h.acts = append(h.acts, act) }

// next is the index of the first act that need not be held any more, -1 if none.
func (h *holds) next() int {
	return slices.IndexFunc(h.acts, func(a actor) bool { return !a.owned().isFrozen() })
}

// rearm schedules the next act, ahead of all ties.
func (h *holds) rearm() {
	if h.next() >= 0 && !h.ev.scheduled() {
		h.v.agenda.add(h.v.now, 0, &h.ev)
	}
}

func (h *holds) owned() *virtualTask { return nil }

func (h *holds) due() {
	i := h.next()
	if i < 0 {
		return // frozen again
	}
	act := h.acts[i]
	h.acts = slices.Delete(h.acts, i, i+1)
	h.rearm()
	act.due()
}

func (h *holds) dropDead() {
	h.acts = slices.DeleteFunc(h.acts, func(a actor) bool { return a.owned().isDead() })
}
