// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"fmt"

	"github.com/seed-720a3c77/harness/history"
)

// This file reads what whoever broke the broker noted beside the logs of the tools, which
// know of no fault: {"timestamp":1731159021783,"name":"fault_active","fault":"broker-kill"}
// and later "fault_healed" with the same fault. They may stand in a file of their own. What
// happened in between is then told as that fault's, and a fault that was never active leaves
// a verdict open.

// verifiableFaults are the windows that are open, by name.
type verifiableFaults struct {
	*verifiable
	open map[string]uint32
}

func (v *verifiable) faults(inputs []Input) error {
	f := verifiableFaults{verifiable: v, open: map[string]uint32{}}
	for _, in := range inputs {
		if err := v.each(in, f.line); err != nil {
			return err
		}
	}
	return nil
}

func (f *verifiableFaults) line(l *verifiableLine) error {
	switch l.Name {
	case "fault_active":
		return f.begin(l)
	case "fault_healed":
		return f.end(l)
	}
	return nil
}

func (f *verifiableFaults) begin(l *verifiableLine) error {
	switch {
	case l.Fault == "":
		return fmt.Errorf("fault_active at %d names no fault", l.Timestamp)
	case f.open[l.Fault] > 0:
		return fmt.Errorf("fault %q is active twice", l.Fault)
	case len(f.header.Faults) >= maxProducers:
		return fmt.Errorf("more than %d faults", maxProducers)
	}
	f.header.Faults = append(f.header.Faults, history.Fault{Name: l.Fault, Text: l.Fault})
	f.open[l.Fault] = uint32(len(f.header.Faults))
	return f.add("faults", f.at(l), history.Event{Kind: history.FaultActive, Op: f.open[l.Fault]})
}

func (f *verifiableFaults) end(l *verifiableLine) error {
	number := f.open[l.Fault]
	if number == 0 {
		return fmt.Errorf("fault %q is healed and was not active", l.Fault)
	}
	delete(f.open, l.Fault)
	return f.add("faults", f.at(l), history.Event{Kind: history.FaultHealed, Op: number})
}
