// SPDX-License-Identifier: Apache-2.0

package rabbitmq

import (
	"math"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/msg"
)

// outlet is one publishing channel and what is unanswered on it.
type outlet struct {
	channel publisher
	epoch   uint32
	// answer hands an outcome to the producer; it is called without the lock.
	answer func(done func(broker.Receipt, error), err error)
	// ended is closed when everything that could be answered is.
	ended   chan struct{}
	timeout time.Duration
	timer   *time.Timer // nil without a timeout

	mu     sync.Mutex
	window window
}

// publisher is the part of amqp.Channel that publishes.
type publisher interface {
	PublishWithDeferredConfirm(exchange, key string, mandatory, immediate bool, m amqp.Publishing) (*amqp.DeferredConfirmation, error)
	IsClosed() bool
}

// signals are what the client tells of a channel. They are unbuffered, except for the
// one reason for its end: a return is taken before the confirm that follows it.
type signals struct {
	confirms chan amqp.Confirmation
	returns  chan amqp.Return
	closed   chan *amqp.Error
}

func listenTo(channel *amqp.Channel) signals {
	return signals{
		confirms: channel.NotifyPublish(make(chan amqp.Confirmation)),
		returns:  channel.NotifyReturn(make(chan amqp.Return)),
		closed:   channel.NotifyClose(make(chan *amqp.Error, 1)),
	}
}

func newOutlet(channel publisher, epoch uint32, size int, timeout time.Duration) *outlet {
	o := &outlet{channel: channel, epoch: epoch, ended: make(chan struct{}), timeout: timeout, window: newWindow(size)}
	if timeout > 0 {
		o.timer = time.NewTimer(timeout)
	}
	return o
}

// listen answers publishes until the client closes its signals, and returns the reason.
func (o *outlet) listen(s signals) *amqp.Error {
	var overdue <-chan time.Time
	if o.timer != nil {
		overdue = o.timer.C
		defer o.timer.Stop()
	}
	for {
		select {
		case r, open := <-s.returns:
			if !open {
				s.returns = nil
				continue
			}
			o.returned(r)
		case c, open := <-s.confirms:
			if !open {
				cause := <-s.closed
				o.lost(cause)
				return cause
			}
			o.settle(c.DeliveryTag)
		case now := <-overdue:
			o.expire(now)
		}
	}
}

// send publishes and registers what must be answered. An error means that done will not
// be called.
func (o *outlet) send(to target, m amqp.Publishing, envelope string, mandatory bool, done func(broker.Receipt, error)) error {
	tag := o.admit(pending{done: done, envelope: envelope, exchange: to.exchange, rejects: to.rejects})
	proof, err := o.channel.PublishWithDeferredConfirm(to.exchange, to.key, mandatory, false, m)
	if err != nil {
		o.withdraw()
		return unsent("publish", err)
	}
	o.prove(tag, proof)
	return nil
}

func (o *outlet) admit(p pending) (tag uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.timer != nil {
		p.due = time.Now().Add(o.timeout)
		if o.window.empty() {
			o.timer.Reset(o.timeout)
		}
	}
	return o.window.push(p)
}

func (o *outlet) withdraw() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.window.withdraw()
}

// prove ends the publish call of a tag. Its confirm, or the end of the channel, may have
// overtaken the call; then it is answered here.
func (o *outlet) prove(tag uint64, proof proof) {
	o.mu.Lock()
	p := o.window.at(tag)
	p.proof = proof
	due := p.confirmed || p.fate != nil
	o.mu.Unlock()
	if due {
		o.settle(tag)
	}
}

// settle answers everything up to a confirmed tag. Whether it was an ack is asked of each
// publish's own proof: when the client re-orders confirms, an "ack up to n" overwrites a
// nack of a smaller tag that still waits for its turn.
func (o *outlet) settle(tag uint64) {
	for {
		p, ok := o.next(tag)
		if !ok {
			return
		}
		o.answer(p.done, p.outcome())
	}
}

func (o *outlet) next(tag uint64) (pending, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	p, ok := o.window.pop(tag)
	if !ok && !o.window.empty() && o.window.head <= tag {
		o.window.at(o.window.head).confirmed = true
	}
	return p, ok
}

func (o *outlet) returned(r amqp.Return) {
	envelope, _ := r.Headers[msg.HeaderName].(string)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.window.markReturned(envelope, returned(r))
}

func (o *outlet) lost(cause *amqp.Error) {
	o.mu.Lock()
	o.window.doom(cause)
	o.mu.Unlock()
	o.settle(math.MaxUint64)
}

// expire answers what has waited too long for its confirm, and sleeps until the next.
func (o *outlet) expire(now time.Time) {
	for {
		p, ok := o.overdue(now)
		if !ok {
			return
		}
		o.answer(p.done, overdue(o.timeout))
	}
}

func (o *outlet) overdue(now time.Time) (pending, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.window.empty() {
		return pending{}, false
	}
	if wait := o.window.at(o.window.head).due.Sub(now); wait > 0 {
		o.timer.Reset(wait)
		return pending{}, false
	}
	p, ok := o.window.pop(math.MaxUint64)
	if !ok { // its publish call is still writing: look again later
		o.timer.Reset(o.timeout)
	}
	return p, ok
}
