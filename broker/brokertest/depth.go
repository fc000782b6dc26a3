// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
)

func depthFollows(p *probe) {
	to := p.declare(broker.Destination{})
	p.sender().send(to, 5)
	r := p.receiverOf(to, 2)
	if p.profile.Model == contract.Log {
		logDepth(p, to, r)
		return
	}
	queueDepth(p, to, r)
}

func queueDepth(p *probe, to string, r *receiver) {
	held := r.take(2)
	p.until("3 ready and 2 in flight", func() bool {
		d := p.depth(to, "")
		return d.Ready == 3 && (d.InFlight == 2 || d.InFlight == broker.Unmeasured)
	})
	r.done(held...)
	for range 3 {
		r.done(r.take(1)...)
	}
	p.until("nothing ready or in flight", func() bool {
		d := p.depth(to, "")
		return d.Ready == 0 && d.InFlight <= 0
	})
	if d := p.depth(to, ""); d.End != broker.Unmeasured || d.Committed != broker.Unmeasured {
		p.errorf("depth of a queue has positions: %+v", d)
	}
}

func logDepth(p *probe, to string, r *receiver) {
	group := to + "-g"
	p.until("5 records", func() bool {
		d := p.depth(to, group)
		return d.End-d.Start == 5 && d.Committed == d.Start
	})
	r.done(r.take(2)...)
	p.until("position 2", func() bool {
		d := p.depth(to, group)
		return d.Committed-d.Start == 2 && d.End-d.Start == 5
	})
	if d := p.depth(to, group); d.Ready != broker.Unmeasured || d.InFlight != broker.Unmeasured {
		p.errorf("depth of a log has queue counts: %+v", d)
	}
}
