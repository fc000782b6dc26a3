// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"fmt"
	"strconv"
	"time"

	"github.com/seed-720a3c77/harness/broker"
)

// messageRetention is the attribute that says how many seconds a queue keeps a message.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html
const messageRetention = "MessageRetentionPeriod"

// What the service takes. Without the attribute it keeps messages for four days, and here
// for ever.
const (
	shortestRetention = time.Minute
	longestRetention  = 14 * 24 * time.Hour
)

// retentionOf reads a queue's raw attributes; one that the model does not have is refused.
func (qs *leaseQueues) retentionOf(d *broker.Destination) (kept time.Duration, err error) {
	for name, value := range d.Native {
		if name != messageRetention || !qs.m.rules.Retention {
			return 0, unsupported("native attribute " + name)
		}
		seconds, err := strconv.ParseInt(value, 10, 32)
		kept = time.Duration(seconds) * time.Second
		if err != nil || kept < shortestRetention || kept > longestRetention {
			return 0, unsupported(fmt.Sprintf("native attribute %s: %q", name, value))
		}
	}
	return kept, nil
}

// retention forgets a message that has been kept for as long as its queue keeps messages, in
// flight or not.
type retention struct {
	of  *leased
	end deadline
}

// keep begins the retention of a message that was first stored at an instant.
func (l *leased) keep(stored time.Duration) {
	l.stored = stored
	if q := l.q; q.retention > 0 {
		q.m.agenda.arm(&l.retained.end, max(q.m.now, stored+q.retention))
	}
}

// expire forgets the message. With the bug it stays.
func (r *retention) expire(time.Duration) {
	l := r.of
	q := l.q
	if q.m.strikes(DeliverExpired, l.id) {
		return
	}
	q.m.tell(OracleEvent{Kind: Dropped, ID: l.id, Where: q.name, Why: "expired"})
	q.forget(l)
}
