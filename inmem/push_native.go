// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"fmt"
	"strconv"
	"time"

	"github.com/seed-720a3c77/harness/broker"
)

// The raw arguments of a queue that the model has.
// https://www.rabbitmq.com/docs/queues#optional-arguments
const (
	singleActive = "x-single-active-consumer"
	messageTTL   = "x-message-ttl" // ms
)

// nativeOf reads a queue's raw arguments; one that the model does not have is refused.
func nativeOf(d *broker.Destination) (single bool, ttl time.Duration, err error) {
	for name, value := range d.Native {
		switch name {
		case singleActive:
			single, err = strconv.ParseBool(value)
		case messageTTL:
			var ms int64
			ms, err = strconv.ParseInt(value, 10, 32)
			ttl = time.Duration(ms) * time.Millisecond
		default:
			return false, 0, unsupported("native argument " + name)
		}
		if err != nil || ttl < 0 {
			return false, 0, unsupported(fmt.Sprintf("native argument %s: %q", name, value))
		}
	}
	return single, ttl, nil
}

// active is the channel that a queue with a single active consumer pushes to: the one that
// is there the longest. It has the queue until its channel ends.
func (q *pushQueue) active() *channel {
	if len(q.channels) == 0 {
		return nil
	}
	c := q.channels[0]
	if q.m.bugs != nil && len(q.channels) > 1 && q.m.strikes(TwoActive, q.ready.next().id) {
		c = q.channels[1]
	}
	if !c.room() {
		return nil
	}
	return c
}
