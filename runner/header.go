// SPDX-License-Identifier: Apache-2.0

package runner

import "github.com/seed-720a3c77/harness/history"

// Header is the manifest of a run of this plan, as far as the plan knows it: the caller
// adds the run's name, the engine, seed, settings, host and command.
func (p *Plan) Header() history.Header {
	h := history.Header{
		Nonce: p.Where.Nonce, Workload: p.Spec.Name, Variant: p.Spec.Variant, About: p.Spec.About, Spec: p.Spec.Source,
		Profile: p.Profile, Fidelity: p.fidelity(), Clock: "virtual",
		Destinations: p.Destinations(), Subscriptions: p.Subscriptions(), Producers: p.ProducerHeads(),
		Claims: p.Spec.Claimed(), Expectations: p.Spec.Expected(), Faults: p.Faults(), Scale: p.Scale, Notes: p.Notes,
	}
	if !p.Where.Virtual {
		h.Clock = "wall"
	}
	return h
}
