// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"fmt"
	"strings"

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
	open map[string]opened
}

type opened struct {
	number uint32
	at     int64
}

func (v *verifiable) faults(inputs []Input) error {
	f := verifiableFaults{verifiable: v, open: map[string]opened{}}
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
	if strings.HasPrefix(l.Name, "fault_") {
		return fmt.Errorf("%q is neither fault_active nor fault_healed", l.Name)
	}
	return nil
}

func (f *verifiableFaults) begin(l *verifiableLine) error {
	switch {
	case l.Fault == "":
		return fmt.Errorf("fault_active at %d names no fault", l.Timestamp)
	case f.open[l.Fault].number > 0:
		return fmt.Errorf("fault %q is active twice", l.Fault)
	case len(f.header.Faults) >= maxProducers:
		return fmt.Errorf("more than %d faults", maxProducers)
	}
	f.header.Faults = append(f.header.Faults, history.Fault{Name: l.Fault, Text: l.Fault})
	number := uint32(len(f.header.Faults))
	f.open[l.Fault] = opened{number, int64(l.Timestamp)}
	return f.add("faults", f.at(l), history.Event{Kind: history.FaultActive, Op: number})
}

func (f *verifiableFaults) end(l *verifiableLine) error {
	window := f.open[l.Fault]
	if window.number == 0 {
		return fmt.Errorf("fault %q is healed and was not active", l.Fault)
	}
	if int64(l.Timestamp) < window.at {
		return fmt.Errorf("fault %q is healed at %d, before it was active at %d", l.Fault, l.Timestamp, window.at)
	}
	delete(f.open, l.Fault)
	return f.add("faults", f.at(l), history.Event{Kind: history.FaultHealed, Op: window.number})
}
