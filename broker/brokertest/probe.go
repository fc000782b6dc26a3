// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
)

const (
	// run is the run whose envelopes the suite writes.
	run = 0x7e57
	// poll is the wait of one Receive.
	poll = 200 * time.Millisecond
	// quiet is how long nothing must arrive where nothing may.
	quiet = 400 * time.Millisecond
)

// probe is one case at work: it makes things, fails with what it saw, and cleans up.
type probe struct {
	Bench
	r       reporter
	ctx     context.Context
	profile contract.Profile
	serial  int
	made    []string
	opened  []interface{ Abandon() }
}

func (p *probe) errorf(format string, args ...any) {
	p.r.Helper()
	p.r.Errorf(format, args...)
}

func (p *probe) fatalf(format string, args ...any) {
	p.r.Helper()
	p.r.Errorf(format, args...)
	panic(stop{})
}

// must fails the case at an error.
func (p *probe) must(err error, what string) {
	p.r.Helper()
	if err != nil {
		p.fatalf("%s: %v", what, err)
	}
}

// refuses wants ErrUnsupported.
func (p *probe) refuses(err error, what string) {
	p.r.Helper()
	if !errors.Is(err, broker.ErrUnsupported) {
		p.errorf("%s: got %v, want ErrUnsupported, as the profile %s does not declare it", what, err, p.profile.Name)
	}
}

func (p *probe) can(c contract.Capability) bool { return p.profile.Can.Has(c) }

// name is unique in the run.
func (p *probe) name(base string) string {
	p.serial++
	return fmt.Sprintf("%s%s-%d", p.Prefix, base, p.serial)
}

// patience is how long a state is waited for: long enough for a take-over after a crash.
func (p *probe) patience() time.Duration {
	return p.profile.Session.Floor + p.profile.Session.Tick + p.profile.TakeOver + p.profile.Tolerance + p.Grace + 10*time.Second
}

// late is how long after a deadline of the broker its effect may be seen.
func (p *probe) late() time.Duration {
	return p.profile.Lease.Tick + p.profile.Tolerance + p.Grace + 2*poll
}

// shortLease is long enough to do something in, also on a machine that is busy, and short
// enough to wait for.
func (p *probe) shortLease() time.Duration { return p.profile.Lease.Fit(2*time.Second + p.Grace/5) }

// until waits for a state.
func (p *probe) until(what string, holds func() bool) {
	p.r.Helper()
	for end := p.Now() + p.patience(); ; {
		if holds() {
			return
		}
		if p.Now() > end {
			p.fatalf("not within %v: %s", p.patience(), what)
		}
		p.pause(50 * time.Millisecond)
	}
}

func (p *probe) pause(d time.Duration) {
	p.r.Helper()
	p.must(p.Sleep(p.ctx, d), "sleep")
}

// declare makes one destination. Leases run long unless the case asks for a short one,
// so that nothing comes back because the machine was slow.
func (p *probe) declare(d broker.Destination) string {
	p.r.Helper()
	d = p.fill(d)
	p.must(p.tryDeclare(d), "declare")
	return d.Name
}

func (p *probe) fill(d broker.Destination) broker.Destination {
	if d.Name == "" {
		d.Name = p.name("d")
	}
	if d.Lease == 0 && d.Kind == broker.Stored && p.can(contract.Lease) {
		d.Lease = p.profile.Lease.Fit(60 * time.Second)
	}
	return d
}

func (p *probe) tryDeclare(all ...broker.Destination) error {
	for _, d := range all {
		p.made = append(p.made, d.Name)
	}
	return p.Engine.Declare(p.ctx, broker.Topology{Destinations: all})
}

// refusesDeclare wants one destination to be unsupported.
func (p *probe) refusesDeclare(what string, d broker.Destination) {
	p.r.Helper()
	d.Name = p.name("d")
	p.refuses(p.tryDeclare(d), "declare with "+what)
}

func (p *probe) depth(destination, group string) broker.Depth {
	p.r.Helper()
	d, err := p.Engine.Depth(p.ctx, destination, group)
	p.must(err, "depth")
	return d
}

// cleanUp gives back clients, destinations and the engine.
func (p *probe) cleanUp() {
	p.r.Helper()
	for _, o := range p.opened {
		o.Abandon()
	}
	if err := p.Engine.Remove(p.ctx, p.made...); err != nil {
		p.errorf("remove at the end: %v", err)
	}
	if err := p.Engine.Close(p.ctx); err != nil {
		p.errorf("close the engine: %v", err)
	}
}
