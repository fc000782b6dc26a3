// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"slices"

	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// attempts counts how often each message of a quorum queue was given back. The native rules
// allow for deliveries to sessions that ended, which no client saw; rows of a case are all
// that there was, one after another, so that its counts are exact.
type attempts struct {
	limit    *int
	holder   map[msg.ID]string
	acker    map[msg.ID]string
	failed   map[msg.ID]float64
	maybe    map[msg.ID]float64 // acked, and the ack may have died with its session
	rejected map[msg.ID]bool
	wrong    []msg.ID // counts that are not the number of failed deliveries
	early    []msg.ID // dead letters below the limit
}

func newAttempts(limit *int) attempts {
	return attempts{limit: limit, holder: map[msg.ID]string{}, acker: map[msg.ID]string{}, failed: map[msg.ID]float64{},
		maybe: map[msg.ID]float64{}, rejected: map[msg.ID]bool{}}
}

// delivered takes the count that the broker told, nil where it told none.
func (a *attempts) delivered(consumer string, id msg.ID, count any) {
	n, told := count.(float64)
	switch {
	case !told:
	case n < a.failed[id] || n > a.failed[id]+a.maybe[id]:
		a.wrong = append(a.wrong, id)
	default:
		a.failed[id], a.maybe[id] = n, 0
	}
	a.holder[id] = consumer
	delete(a.acker, id)
}

func (a *attempts) settled(id msg.ID, verb uint8) {
	if verb == history.VerbAck {
		a.acker[id] = a.holder[id]
	}
	delete(a.holder, id)
	switch verb {
	case history.VerbRequeue:
		a.failed[id]++
	case history.VerbReject:
		a.rejected[id] = true
	}
}

func (a *attempts) closed(consumer string) {
	for id, holder := range a.holder {
		if holder == consumer {
			a.failed[id]++
			delete(a.holder, id)
		}
	}
	for id, acker := range a.acker {
		if acker == consumer {
			a.maybe[id]++
			delete(a.acker, id)
		}
	}
}

func (a *attempts) deadLettered(id msg.ID) {
	if a.limit != nil && *a.limit >= 0 && a.failed[id]+a.maybe[id] <= float64(*a.limit) && !a.rejected[id] {
		a.early = append(a.early, id)
	}
}

// add puts in what the native rules had to leave open. A message about which they found
// something else in the same place is left alone.
func (a *attempts) add(found findings) {
	for _, id := range a.wrong {
		if !found.of(id, "wrong-count", "duplicate-unexplained", "duplicate-after-ack", "from-nowhere") {
			found["wrong-count"] = append(found["wrong-count"], id)
		}
	}
	for _, id := range a.early {
		if !found.of(id, "dead-letter-early", "dead-letter-premature", "dead-letter-after-ack", "dead-letter-twice", "from-nowhere") {
			found["dead-letter-early"] = append(found["dead-letter-early"], id)
		}
	}
}

// of tells whether any of the rows found a message.
func (f findings) of(id msg.ID, rows ...string) bool {
	return slices.ContainsFunc(rows, func(row string) bool { return slices.Contains(f[row], id) })
}
