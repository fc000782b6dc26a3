// SPDX-License-Identifier: Apache-2.0

package rabbitmq

import (
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/seed-720a3c77/harness/broker"
)

// pending is one unanswered publish.
type pending struct {
	done     func(broker.Receipt, error)
	envelope string
	exchange string
	rejects  bool
	due      time.Time

	// proof is nil while the client's publish call runs; what is known meanwhile waits here.
	proof     proof
	confirmed bool
	// returned and fate are why it failed: a basic.return frame, the end of the channel.
	returned, fate error
}

// proof tells whether a basic.ack frame was seen (amqp.DeferredConfirmation).
type proof interface{ Acked() bool }

// outcome is the answer. A return outranks the ack that follows it. An ack that was seen
// counts although the channel ended before the client handed it over.
func (p *pending) outcome() error {
	switch {
	case p.returned != nil:
		return p.returned
	case p.proof.Acked():
		return nil
	case p.fate != nil:
		return p.fate
	}
	return nacked(p.rejects)
}

// window holds the unanswered publishes of one channel by delivery tag. They are answered
// in the order of the tags, because the client hands confirms over in that order.
type window struct {
	ring []pending
	// head is the oldest unanswered tag, next the one after the newest. Tags begin at 1.
	head, next uint64
}

func newWindow(size int) window { return window{ring: make([]pending, size), head: 1, next: 1} }

func (w *window) empty() bool { return w.head == w.next }

func (w *window) at(tag uint64) *pending { return &w.ring[tag%uint64(len(w.ring))] }

// push adds the next tag. There must be room.
func (w *window) push(p pending) (tag uint64) {
	tag = w.next
	*w.at(tag) = p
	w.next++
	return tag
}

// withdraw takes back the newest, whose publish call failed: the client reuses its tag.
func (w *window) withdraw() { w.next-- }

// pop removes the oldest if it is not after tag and its publish call has returned.
func (w *window) pop(tag uint64) (p pending, ok bool) {
	if w.empty() || w.head > tag || w.at(w.head).proof == nil {
		return pending{}, false
	}
	p = *w.at(w.head)
	*w.at(w.head) = pending{}
	w.head++
	return p, true
}

// markReturned finds the publish that came back. The broker returns in the order of
// publishing, so that of equal envelopes the oldest is meant.
func (w *window) markReturned(envelope string, why error) {
	for tag := w.head; tag < w.next; tag++ {
		if p := w.at(tag); p.envelope == envelope && p.returned == nil {
			p.returned = why
			return
		}
	}
}

// doom gives everything unanswered its fate when the channel ends. The broker throws away
// what follows the publish it refused, so the last one that it may have meant and all
// after it are refused; of the others nothing is known.
func (w *window) doom(cause *amqp.Error) {
	culprit := w.next
	for tag := w.head; tag < w.next; tag++ {
		if blames(cause, w.at(tag).exchange) {
			culprit = tag
		}
	}
	for tag := w.head; tag < w.next; tag++ {
		w.at(tag).fate = lost(cause)
		if tag >= culprit {
			w.at(tag).fate = refused(cause)
		}
	}
}
