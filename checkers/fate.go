// SPDX-License-Identifier: Apache-2.0

package checkers

// fate is the one place in which an acked id ended.
type fate uint8

const (
	isDone fate = iota
	isDeadLettered
	isStored // found at the source at the end
	isHeld   // a worker held it or worked on it
	isUndrained
	isDoubtful // an answer that is missing would tell
	isNotOwed
	isDropped
	isLostUndelivered
	isLostAfterDelivery
	isPositionPassed
	isSettledWithoutSuccess
	isLostInDeadLettering
	isLostWithoutEffect

	fates
)

var fateTable = [fates]struct {
	name, kind string
	row        row
}{
	isDone:                  {"Done", "good", rows},
	isDeadLettered:          {"Dead-lettered", "allowed", deadLettered},
	isStored:                {"Still stored", "open", undrained},
	isHeld:                  {"Still held by a worker", "open", undrained},
	isUndrained:             {"Not come to an end", "open", undrained},
	isDoubtful:              {"Unknown, an answer is missing", "open", undrained},
	isNotOwed:               {"Before the subscription began", "allowed", rows},
	isDropped:               {"Dropped by a declared limit or a reject", "allowed", policyDrop},
	isLostUndelivered:       {"Lost, never delivered", "bad", lostUndelivered},
	isLostAfterDelivery:     {"Lost after delivery", "bad", lostAfterDelivery},
	isPositionPassed:        {"Lost, position passed", "bad", positionPassed},
	isSettledWithoutSuccess: {"Lost, settled without success", "bad", settledWithoutSuccess},
	isLostInDeadLettering:   {"Lost in dead-lettering", "bad", lostInDeadLettering},
	isLostWithoutEffect:     {"Lost, no effect", "bad", lostWithoutEffect},
}

func (f fate) String() string   { return fateTable[f].name }
func (f fate) kind() string     { return fateTable[f].kind }
func (f fate) row() (row, bool) { return fateTable[f].row, fateTable[f].row < rows }

// fate decides where an acked message ended. Success comes first, then what was seen,
// then what may still happen, and loss only where nothing is left.
func (c *Case) fate(sub *subscription, known *message) fate {
	decided := c.decide(sub, known)
	if decided.kind() == "bad" && c.ends.incomplete {
		return isDoubtful // what would show it done may be among what is missing
	}
	return decided
}

func (c *Case) decide(sub *subscription, known *message) fate {
	switch {
	case known.succeeded(sub):
		return isDone
	case known.deadLetters() > 0:
		return isDeadLettered
	case !sub.log && known.audits > 0:
		return isStored
	case sub.Opaque:
		return c.fateOpaque(sub)
	case c.alive(sub, known):
		return isHeld
	case known.is(intended):
		return isDoubtful
	case known.received == 0:
		return c.fateUnread(sub, known)
	case sub.log:
		return c.fateRead(sub, known)
	}
	return c.fateTaken(sub, known)
}

// alive tells whether a worker that is still there holds the message or works on it.
func (c *Case) alive(sub *subscription, known *message) bool {
	if known.running > 0 {
		return true
	}
	h := c.hold(known.hold)
	if h == nil || h.over != noCause {
		return false
	}
	if sub.log {
		return !h.is(handled) && c.session(known.hold.session).claim(h.place).state != revoked
	}
	return !h.is(settledHold)
}

// audited tells whether every place of a role that was looked at was read to its end.
func (c *Case) audited(sub *subscription, what role) bool {
	found := false
	for ref, whole := range c.ends.audited {
		if p := c.place(ref); p.role == what && p.owner == sub.index {
			if !whole {
				return false
			}
			found = true
		}
	}
	return found
}

// fateUnread is of a message that was never delivered. An audit shows all of a log, but
// only what is ready of a queue, so that a queue's message may still be hidden somewhere.
func (c *Case) fateUnread(sub *subscription, known *message) fate {
	if known.is(forwardMaybe | forwardLost) {
		return c.fateForwarded(sub)
	}
	if sub.log && known.place != 0 {
		p := sub.partition(known.place)
		switch {
		case sub.Latest && known.off < p.start:
			return isNotOwed
		case p.committed > known.off && p.read > known.off:
			return isLostUndelivered
		}
	}
	if c.expires(sub, known) {
		return c.fateExpired(sub)
	}
	if c.ends.drained || sub.log && known.audits == 0 && c.audited(sub, source) {
		return isLostUndelivered
	}
	return isUndrained
}

// fateRead is of a record that was delivered and not done: lost once the group's position
// is beyond it.
func (c *Case) fateRead(sub *subscription, known *message) fate {
	p := sub.partition(known.place)
	switch {
	case p.committed > known.off && known.is(forwardLost):
		return isLostInDeadLettering
	case p.committed > known.off && known.is(forwardMaybe):
		return c.fateForwarded(sub)
	case p.committed > known.off:
		return isPositionPassed
	case p.maybe > known.off && c.ends.drained:
		return isPositionPassed
	case p.maybe > known.off:
		return isDoubtful
	}
	return isUndrained
}

// fateTaken is of a queue's message that was delivered and not done.
func (c *Case) fateTaken(sub *subscription, known *message) fate {
	gone := c.ends.drained
	limit := sub.limit > 0 && int(known.received) >= sub.limit
	switch {
	case known.is(discarded), limit && !known.is(settled):
		if sub.deadLetter == "" {
			return isDropped
		}
		return c.fateForwarded(sub)
	case known.is(settled) && known.is(forwardLost):
		return isLostInDeadLettering
	case known.is(settled) && known.is(forwardMaybe):
		return c.fateForwarded(sub)
	case known.is(settled), known.is(settledMaybe) && gone:
		return isSettledWithoutSuccess
	case c.expires(sub, known):
		return c.fateExpired(sub)
	case gone:
		return isLostAfterDelivery
	}
	return isUndrained
}

// fateForwarded is of a message that should be in the dead-letter destination and was not
// seen there.
func (c *Case) fateForwarded(sub *subscription) fate {
	if c.audited(sub, deadLetter) {
		return isLostInDeadLettering
	}
	return isDoubtful
}
