// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"errors"
	"sync"

	"github.com/seed-720a3c77/harness/clock"
)

// errHarnessGone: nobody will answer any more.
var errHarnessGone = errors.New("the harness is gone")

// caller asks the other end questions and waits for the answers.
type caller struct {
	link  *link
	clock clock.Clock
	// lost is the error where nobody answers any more.
	lost error

	mu      sync.Mutex // guards what follows
	number  uint64
	waiting map[uint64]chan message
	gone    bool
}

func newCaller(l *link, clk clock.Clock, lost error) *caller {
	return &caller{link: l, clock: clk, lost: lost, waiting: map[uint64]chan message{}}
}

// ask sends a question and returns its answer.
func (c *caller) ask(ctx context.Context, m message) (message, error) {
	number, answered, err := c.expect()
	if err != nil {
		return message{}, err
	}
	m.Call = number
	if err := c.link.send(m); err != nil {
		c.forget(number)
		return message{}, errors.Join(c.lost, err)
	}
	var a message
	err = c.clock.Foreign(ctx, func() error {
		select {
		case got, open := <-answered:
			if a = got; !open {
				return c.lost
			}
			return nil
		case <-ctx.Done():
			c.forget(number)
			return ctx.Err()
		}
	})
	if err == nil && a.Error != "" {
		err = errors.New(a.Error)
	}
	return a, err
}

func (c *caller) expect() (uint64, <-chan message, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return 0, nil, c.lost
	}
	c.number++
	answered := make(chan message, 1)
	c.waiting[c.number] = answered
	return c.number, answered, nil
}

func (c *caller) forget(number uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, number)
}

// answered hands an answer to who waits for it; an answer that nobody waits for is none.
func (c *caller) answered(m message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if waiting, ok := c.waiting[m.Call]; ok {
		delete(c.waiting, m.Call)
		waiting <- m
	}
}

// over ends every wait.
func (c *caller) over() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
	for number, waiting := range c.waiting {
		delete(c.waiting, number)
		close(waiting)
	}
}
