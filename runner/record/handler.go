// SPDX-License-Identifier: Apache-2.0

package record

import (
	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/effects"
	"github.com/seed-720a3c77/harness/history"
)

func (t *Task) of(d *broker.Delivery, kind history.Kind) history.Event {
	o := &d.Token.Origin
	return history.Event{T: t.now(), Kind: kind, Producer: o.ID.Producer, Seq: o.ID.Seq, Session: o.Session, Op: o.Op, Place: o.Place}
}

// HandlerStart records that the application began to work on a delivery; run counts from 1.
func (t *Task) HandlerStart(d *broker.Delivery, run int) {
	e := t.of(d, history.HandlerStart)
	e.N = uint32(run)
	t.segment.Append(&e)
}

// HandlerEnd records its end, since the start at the given instant; failure is "" for success.
func (t *Task) HandlerEnd(d *broker.Delivery, start int64, failure string) {
	e := t.of(d, history.HandlerEnd)
	e.D = e.T - start
	if failure != "" {
		e.Flags, e.Text = history.Failed, t.text(failure)
	}
	t.segment.Append(&e)
}

// EffectIntent records that an effect is about to happen.
func (t *Task) EffectIntent(d *broker.Delivery) {
	e := t.of(d, history.EffectIntent)
	t.segment.Append(&e)
}

// EffectResult records what became of it. An error means unknown.
func (t *Task) EffectResult(d *broker.Delivery, r effects.Result, err error) {
	e := t.of(d, history.EffectResult)
	e.N, e.Class = uint32(r.Count), contract.OK
	if r.Skipped {
		e.Flags |= history.Skipped
	}
	if r.Refused {
		e.Flags |= history.Refused
	}
	if err != nil {
		e.Class, e.Text = contract.Unknown, t.text(err.Error())
	}
	t.segment.Append(&e)
}

// Now is the time of the run in nanoseconds, for HandlerEnd.
func (t *Task) Now() int64 { return t.now() }
