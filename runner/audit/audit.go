// SPDX-License-Identifier: Apache-2.0

// Package audit looks at what a broker still stores when everybody has left a run: a log is
// read from its start without a group, a queue is received from, which is why it comes last.
//
// It records what it sees through the run's [record.Task] and judges nothing.
package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/runner/record"
)

const (
	// patience bounds the audit of one destination while nothing comes.
	patience = 10 * time.Second
	poll     = 100 * time.Millisecond
	batch    = 100
)

// Auditor reads the destinations of one run.
type Auditor struct {
	Engine  broker.Engine
	Clock   clock.Clock
	Profile contract.Profile
	Run     uint32 // the nonce of the run
	Task    *record.Task
}

// Destination records each message that is stored there, and whether that was all.
func (a Auditor) Destination(ctx context.Context, name string) {
	found, err := a.look(ctx, name)
	why := ""
	if err != nil {
		why = err.Error()
	}
	a.Task.AuditEnd(name, found, why)
}

func (a Auditor) look(ctx context.Context, destination string) (found int, err error) {
	depth, err := a.Engine.Depth(ctx, destination, "")
	if err != nil {
		return 0, err
	}
	want := a.stored(depth)
	if want == 0 {
		return 0, nil
	}
	spec := broker.ConsumerSpec{
		Name: "audit-" + destination, Run: a.Run, From: destination,
		Batch: cmp.Or(a.Profile.BatchMax, batch), Session: a.Profile.Session.Fit(0),
	}
	consumer, err := a.Engine.Consumer(ctx, spec)
	if err != nil {
		return 0, err
	}
	found, err = a.read(ctx, consumer, make([]broker.Delivery, spec.Batch), want)
	return found, errors.Join(err, consumer.Close(ctx))
}

// stored is how many messages there are to see.
func (a Auditor) stored(d broker.Depth) int {
	if a.Profile.Model == contract.Log {
		return int(d.End - d.Start)
	}
	return int(max(d.Ready, 0))
}

// read receives until it has seen what is stored. Messages on a queue are held until the
// end, so that none is seen twice.
func (a Auditor) read(ctx context.Context, consumer broker.Consumer, into []broker.Delivery, want int) (found int, err error) {
	last := a.Clock.Now()
	for found < want {
		n, err := consumer.Receive(ctx, into, poll)
		if err != nil {
			return found, err
		}
		for i := range into[:n] {
			a.Task.Audit(&into[i])
		}
		if n > 0 {
			last = a.Clock.Now()
		}
		if found += n; a.Clock.Now()-last > patience {
			return found, fmt.Errorf("found %d of %d messages and then nothing for %s", found, want, patience)
		}
		if a.Profile.Model == contract.PushQueue {
			letGo(ctx, consumer, into[:n])
		}
	}
	return found, nil
}

// letGo acks what a push queue handed out: its window would end the audit otherwise. The
// destination is removed after the run.
func letGo(ctx context.Context, consumer broker.Consumer, seen []broker.Delivery) {
	acks := make([]broker.Settlement, len(seen))
	for i := range seen {
		acks[i] = broker.Settlement{Verb: broker.Ack, Token: seen[i].Token}
	}
	consumer.Settle(ctx, acks, make([]error, len(seen)))
}
