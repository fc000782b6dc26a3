// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"fmt"
	"slices"

	"github.com/seed-720a3c77/harness/contract"
)

// NotApplicable says why a workload cannot be shown on a profile. It is not a failure.
type NotApplicable struct{ Reason string }

// Error is the reason.
func (n *NotApplicable) Error() string { return "not applicable: " + n.Reason }

func inapplicable(format string, args ...any) error {
	return &NotApplicable{fmt.Sprintf(format, args...)}
}

func (p *Plan) applicable() error {
	if want := p.Spec.Fidelity; want != "" && want != p.fidelity() {
		return inapplicable("the workload is for %s runs only", want)
	}
	for c := range contract.AllCapabilities() {
		if slices.Contains(p.Spec.Needs, c.String()) && !p.Profile.Can.Has(c) {
			return inapplicable("%s has no %s%s", p.Profile.Name, c, p.why(c))
		}
	}
	for _, c := range p.Spec.Consume {
		if why := p.Where.noProcess(); c.RunIn == "process" && why != "" {
			return inapplicable("run-in: process: %s", why)
		}
		if (c.Strategy != "" || c.Static) && !p.Profile.Can.Has(contract.Groups) {
			return inapplicable("%s has no consumer groups, whose partitions could be shared out or kept", p.Profile.Name)
		}
		if c.Settle.When == "auto" && !p.Profile.Can.Has(contract.AutoCommit) {
			return inapplicable("%s has no auto-commit%s", p.Profile.Name, p.why(contract.AutoCommit))
		}
		if c.Settle.Renew > 0 && !p.Profile.Can.Has(contract.Extend) {
			return inapplicable("%s cannot extend a lease%s", p.Profile.Name, p.why(contract.Extend))
		}
	}
	return p.destinationsApplicable()
}

// noProcess says why workers cannot be processes of their own.
func (w *Where) noProcess() string {
	if !w.Virtual && !w.Processes {
		return "workers can be killed and frozen as processes on Linux and macOS only"
	}
	return ""
}

func (p *Plan) destinationsApplicable() error {
	for name, d := range p.Spec.Topology {
		switch {
		case len(d.FanOut) > 0 && !p.Profile.Can.Has(contract.FanOut):
			return inapplicable("%s: %s has no exchanges", name, p.Profile.Name)
		case d.FIFO && !p.Profile.Can.Has(contract.FIFOGroups):
			return inapplicable("%s: %s has no message groups", name, p.Profile.Name)
		case d.MaxDeliveries > 0 && d.DeadLetter == "" && p.Profile.Model == contract.LeaseQueue && p.Profile.Can.Has(contract.DeadLetter):
			return inapplicable("%s: %s limits deliveries by its redrive policy alone, which names a dead-letter queue", name, p.Profile.Name)
		case d.RetryOf != "" && p.Profile.Model != contract.Log:
			return inapplicable("%s: a queue takes a message back; a retry topic is for logs", name)
		}
	}
	return nil
}

// why is the profile's own reason for what it leaves out.
func (p *Plan) why(c contract.Capability) string {
	keys := []string{c.String()}
	switch c {
	case contract.Lease, contract.Extend:
		keys = append(keys, "lease per queue", "poll limit")
	case contract.Partitions, contract.OffsetCommit, contract.AutoCommit, contract.Seek:
		keys = append(keys, "offsets")
	}
	for _, key := range keys {
		if reason, ok := p.Profile.LeftOut[key]; ok {
			return ": " + reason
		}
	}
	return ""
}
