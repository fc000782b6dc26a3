// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"errors"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
)

var (
	errHandleUnknown = errors.Join(errors.New("the receipt handle is not valid"), broker.ErrStale)
	errHandleExpired = errors.Join(errors.New("the receipt handle has expired"), broker.ErrStale)
	errNotInFlight   = errors.Join(errors.New("the message is not in flight"), broker.ErrStale)
)

func (c *poller) settle(s *broker.Settlement) error {
	if s.Multiple {
		return unsupported(contract.AckMultiple.String())
	}
	switch s.Verb {
	case broker.Ack:
		return c.q.delete(c, s)
	case broker.Requeue, broker.Extend:
		return c.q.changeVisibility(s)
	default:
		return unsettleable(s)
	}
}

// holding is how a handle stands to its message.
type holding uint8

const (
	// current: the newest handle of a message in flight.
	current holding = iota
	// expired: the newest handle, and the lease is over.
	expired
	// old: the message was received again since.
	old
	// deleted: the message is gone.
	deleted
)

// find looks a handle up. It is an error if the queue never gave it.
func (q *leaseQueue) find(op, handle string) (*leased, holding, error) {
	number, seq, receive, ok := parse3(handle)
	if !ok || number != q.number || seq > q.next || receive == 0 {
		return nil, deleted, refused(op, "ReceiptHandleIsInvalid", errHandleUnknown)
	}
	l := q.messages[seq]
	switch {
	case l == nil:
		return nil, deleted, nil
	case receive != uint64(l.receives):
		return l, old, nil
	case l.state != inFlight || l.until <= q.m.now:
		return l, expired, nil
	default:
		return l, current, nil
	}
}

// delete is DeleteMessage. To delete what is gone already is no error.
func (q *leaseQueue) delete(c *poller, s *broker.Settlement) error {
	l, how, err := q.find("ack", s.Token.Handle)
	if err != nil || how == deleted {
		return err
	}
	rule := q.staleRule(how, q.m.rules.Stale, q.m.rules.staleAfterExpiry)
	if rule != contract.StaleApplies && q.m.strikes(StaleAccepted, l.id) {
		rule = contract.StaleApplies
	}
	switch rule {
	case contract.StaleRefused:
		return refused("ack", "InvalidParameterValue", errHandleExpired)
	case contract.StaleSilent:
		return nil
	default:
		if q.m.bugs != nil && q.misack(l) {
			return nil
		}
		q.m.tell(OracleEvent{Kind: Settled, ID: l.id, Where: q.name, Session: c.session, Count: l.receives})
		q.forget(l)
		return nil
	}
}

// staleRule is what a handle may do.
func (q *leaseQueue) staleRule(how holding, ifOld, ifExpired contract.Stale) contract.Stale {
	switch how {
	case old:
		return ifOld
	case expired:
		return ifExpired
	default:
		return contract.StaleApplies
	}
}

// changeVisibility is ChangeMessageVisibility: the lease ends that long after now, and 0
// gives the message back at once. Times are not added.
func (q *leaseQueue) changeVisibility(s *broker.Settlement) error {
	op := s.Verb.String()
	l, how, err := q.find(op, s.Token.Handle)
	switch {
	case err != nil:
		return err
	case how == deleted:
		return refused(op, "InvalidParameterValue", errNotInFlight)
	}
	ifExpired := contract.StaleApplies
	if q.m.rules.staleExtend != contract.StaleApplies {
		ifExpired = contract.StaleRefused
	}
	switch q.staleRule(how, q.m.rules.staleExtend, ifExpired) {
	case contract.StaleRefused:
		return refused(op, "MessageNotInflight", errNotInFlight)
	case contract.StaleApplies:
		if s.Verb != broker.Extend || !q.m.strikes(ExtendIgnored, l.id) {
			q.hold(l, s.Delay)
		}
		return nil
	default:
		return nil
	}
}

// hold puts the end of a lease to so long after now, also of a message that is visible.
func (q *leaseQueue) hold(l *leased, d time.Duration) {
	wasInFlight := l.state == inFlight
	q.takeBack(l)
	if d <= 0 {
		q.m.tell(OracleEvent{Kind: Returned, ID: l.id, Where: q.name, Count: l.receives})
		if l.state != visible {
			q.show(l, true)
		}
		return
	}
	if l.group != nil {
		l.group.ready.remove(l)
		l.group.inFlight++
	} else {
		q.ready.remove(l)
	}
	q.hide(l, inFlight, d)
	if !wasInFlight && l.group != nil {
		l.group.blocked = true
	}
}
