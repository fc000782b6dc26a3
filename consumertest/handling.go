// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
)

// handling is what a worker does with the messages of one call: the call, and the settle.
type handling struct {
	worker   *worker
	process  *process
	consumer broker.Consumer
	batch    []broker.Delivery
	// lost: the connection went away while the handler ran.
	lost bool
	// leaving: the consumer was asked to stop.
	leaving bool
	// kept is what is done but not committed, because something before it is not: a
	// committed position covers all that lies before.
	kept []*arrival
}

func (h *handling) handle(ctx context.Context) fate {
	for tries := 1; ; tries++ {
		arrivals, number := h.worker.scene.arrive(h.batch)
		for _, a := range arrivals {
			h.worker.scene.trace.add(entry{who: h.worker.name, event: a.event, call: number}, "%s", a.text(h.worker.scene))
		}
		if h.act(arrivals, crashBeforeCall) != nil {
			h.process.crash()
			return died
		}
		if h.worker.scene.putOff(arrivals) {
			h.process.crash()
			return died
		}
		if h.worker.scene.forgets(arrivals) && !h.worker.construct(ctx, h.process) {
			return stopped
		}
		errs, f := h.call(ctx, number, arrivals)
		if f != served {
			return f
		}
		again, f := h.settle(ctx, arrivals, errs)
		if f != served || len(again) == 0 {
			return f
		}
		h.batch = again
		if h.worker.scene.clock.Sleep(ctx, h.worker.scene.rules.pace.backoff(tries)) != nil {
			return stopped
		}
	}
}

// backoff before another attempt: doubling, so that the attempts together outlast any
// claim that is worth the name.
func (p *pace) backoff(attempt int) time.Duration {
	return min(p.retry<<min(attempt-1, 10), p.mostRetry)
}

// act is the act of the plan, of one of these kinds, for one of the messages.
func (h *handling) act(arrivals []*arrival, deeds ...deed) *act {
	s := h.worker.scene
	for _, a := range arrivals {
		todo := s.plan.at(a.event, a.attempt, 0, deeds...)
		if todo == nil {
			continue
		}
		s.came(todo.do)
		s.fault(h.worker.name, a.event, 0, "%s", todo.between())
		return todo
	}
	return nil
}

// between tells an act that happens between calls.
func (a *act) between() string {
	switch a.do {
	case cutBeforeSettle:
		return "the connection breaks before the settle: the broker will deliver again"
	case crashBeforeCall:
		return "crashes before the handler starts"
	case crashBeforeSettle:
		return "crashes after the handler returned, before the settle"
	case crashAfterSettle:
		return "crashes right after the settle"
	case downBeforeSettle:
		return "crashes before the settle, and nothing runs for " + brief(a.wait)
	case spontaneousCopy:
		return "the queue gives the settled message once more, as it may"
	}
	return "?"
}

// call runs the handler and follows it until it returns, or its worker is gone.
func (h *handling) call(ctx context.Context, number int, arrivals []*arrival) ([]error, fate) {
	s := h.worker.scene
	c := newCall(h.process, number, arrivals)
	h.process.begin(c)
	go c.run()
	for {
		st, err := h.next(ctx, c)
		if err != nil {
			return nil, stopped
		}
		switch st.kind {
		case stepReturned:
			s.returned(h.worker, c, st.errs)
			return st.errs, served
		case stepPanicked:
			h.panicked(c, st)
			return nil, died
		case stepExited:
			st.value = "the handler ended its goroutine, as t.FailNow and runtime.Goexit do"
			h.panicked(c, st)
			return nil, died
		case stepCrashed:
			h.process.crash()
			return nil, died
		case stepCut:
			h.lost = true
			h.consumer.Abandon()
		case stepFrozen:
			s.clock.At(context.Background(), s.clock.Now()+st.wait, h.worker.task.Thaw)
			h.worker.task.Freeze()
		case stepStopped:
			h.leaving = true
		}
	}
}

// next waits for the next step of a call.
func (h *handling) next(ctx context.Context, c *call) (st step, err error) {
	err = h.worker.scene.clock.Foreign(ctx, func() error {
		select {
		case st = <-c.steps:
		case <-c.process.scene.over:
		}
		return nil
	})
	return st, err
}

// panicked ends the process, and is a problem unless the schedule asked for it.
func (h *handling) panicked(c *call, st step) {
	s := h.worker.scene
	h.process.crash()
	if st.injected {
		return
	}
	event := c.batch[0].event
	s.trace.add(entry{who: h.worker.name, event: event, call: c.number, fault: true}, "the handler panics: %v%s", st.value, st.site)
	s.problem(problem{kind: panicked, event: event, text: fmt.Sprintf("the handler panics with %s: %v%s", s.id(event), st.value, st.site)})
	s.changed.Wake()
}

// settle settles what is done and gives back what failed. again is what is to be tried
// once more in place.
func (h *handling) settle(ctx context.Context, arrivals []*arrival, errs []error) (again []broker.Delivery, f fate) {
	if todo := h.act(arrivals, cutBeforeSettle, crashBeforeSettle, downBeforeSettle); todo != nil {
		return nil, h.lose(todo)
	}
	if h.lost {
		return nil, cut
	}
	again = h.finishAll(ctx, arrivals, errs)
	if todo := h.act(arrivals, crashAfterSettle); todo != nil {
		h.process.crash()
		return nil, died
	}
	if h.leaving {
		_ = h.consumer.Close(ctx)
		h.process.crash()
		return nil, died
	}
	return again, served
}

// lose ends the connection, or the process, in the moment before the settle.
func (h *handling) lose(todo *act) fate {
	if todo.do == cutBeforeSettle {
		return cut
	}
	h.process.crash()
	if todo.do == downBeforeSettle {
		h.worker.scene.goDown(todo.wait)
	}
	return died
}

// finishAll settles or gives back each message, and returns what to try again in place.
func (h *handling) finishAll(ctx context.Context, arrivals []*arrival, errs []error) (again []broker.Delivery) {
	for i, a := range arrivals {
		switch {
		case i >= len(errs) || errs[i] == nil || h.giveUp(a, errs[i]):
			h.kept = append(h.kept, a)
		case h.worker.scene.rules.Model == contract.Log:
			again = append(again, a.delivery)
		default:
			h.giveBack(ctx, a)
		}
	}
	if len(again) > 0 {
		return again
	}
	slices.SortStableFunc(h.kept, func(a, b *arrival) int { return cmp.Compare(a.delivery.Token.Offset, b.delivery.Token.Offset) })
	for _, a := range h.kept {
		h.send(ctx, a, broker.Settlement{Verb: h.done(), Token: a.delivery.Token})
		if todo := h.act([]*arrival{a}, spontaneousCopy); todo != nil {
			h.worker.scene.inject(a.delivery, "", h.worker.scene.trace.now()+todo.wait)
		}
	}
	return nil
}

// giveUp tells whether a message has failed so often that it goes to the dead letters.
func (h *handling) giveUp(a *arrival, failed error) bool {
	s := h.worker.scene
	if a.attempt < s.attempts() {
		return false
	}
	s.gaveUp(a.event, failed)
	s.trace.add(entry{who: h.worker.name, event: a.event}, "%s is given up after %d attempts and goes to the dead letters", s.id(a.event), a.attempt)
	return true
}

func (h *handling) done() broker.Verb {
	if h.worker.scene.rules.Model == contract.Log {
		return broker.Commit
	}
	return broker.Ack
}

// giveBack asks for another delivery, after a while.
func (h *handling) giveBack(ctx context.Context, a *arrival) {
	s := h.worker.scene
	back := broker.Settlement{Verb: broker.Requeue, Token: a.delivery.Token}
	if s.rules.Can.Has(contract.RequeueDelay) {
		back.Delay = s.rules.Lease.Fit(s.rules.pace.backoff(a.attempt))
	} else {
		_ = s.clock.Sleep(ctx, s.rules.pace.backoff(a.attempt))
	}
	h.send(ctx, a, back)
}

func (h *handling) send(ctx context.Context, a *arrival, what broker.Settlement) {
	s := h.worker.scene
	result := []error{nil}
	h.consumer.Settle(ctx, []broker.Settlement{what}, result)
	text := map[broker.Verb]string{broker.Ack: "settles", broker.Commit: "commits", broker.Requeue: "gives back"}[what.Verb]
	refused := ""
	if result[0] != nil {
		refused = ": refused, it is not the holder any more"
		s.refused()
	}
	s.trace.add(entry{who: h.worker.name, event: a.event, kind: opSettle}, "%s %s%s", text, s.id(a.event), refused)
	s.changed.Wake()
}
