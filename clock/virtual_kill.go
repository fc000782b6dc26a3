// SPDX-License-Identifier: Apache-2.0

package clock

import "runtime"

// callbackDied ends a callback whose owner died while it ran. A callback runs on the
// scheduler's goroutine, which a Goexit would end.
type callbackDied struct{}

// Kill implements Task.
func (t *virtualTask) Kill() {
	t.v.alive()
	t.kill()
	t.v.leaveIfDead()
}

// kill does all of Kill except for leaving the code that called it.
func (t *virtualTask) kill() {
	if t.killed {
		return
	}
	t.v.kills++
	t.bury()
	t.v.agenda.removeIf(func(ev *event) bool { return ev.act.owned().isDead() })
	t.v.holds.dropDead()
	t.ctx.cancelCause(ErrKilled)
}

// bury marks the task and its descendants; none of their code is entered again.
func (t *virtualTask) bury() {
	v := t.v
	t.killed = true
	t.settle()
	v.agenda.remove(&t.wake)
	if t.co != nil {
		v.corpses = append(v.corpses, t.co)
	}
	if !t.returned {
		t.over.Wake()
	}
	for son := t.sons.first; son != nil; son = t.sons.first {
		t.sons.remove(son)
		son.of.bury()
	}
	t.forget()
}

// isDead reports whether the task or one of its ancestors was killed. A task that had
// returned may have left the tree before, therefore it is asked upwards.
func (t *virtualTask) isDead() bool {
	if t == nil || t.v.kills == 0 {
		return false
	}
	for ; t != nil; t = t.parent {
		if t.killed {
			return true
		}
	}
	return false
}

// leaveIfDead does not return to code that has just been killed.
func (v *Virtual) leaveIfDead() {
	switch {
	case v.current.isDead():
		v.current.park()
	case v.owner.isDead():
		panic(callbackDied{})
	}
}

// alive begins every call that changes something: while Close unwinds the dead, it ends
// the deferred call that reached for the clock.
func (v *Virtual) alive() {
	if v.closing {
		runtime.Goexit()
	}
}
