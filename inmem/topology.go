// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"fmt"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

// checkTopology refuses what exists already, what is declared twice, and what the profile
// cannot do.
func (m *Machine) checkTopology(t broker.Topology) error {
	inside := map[string]bool{}
	for i := range t.Destinations {
		d := &t.Destinations[i]
		if inside[d.Name] || m.model.has(d.Name) {
			return fmt.Errorf("declare %s: %w", d.Name, broker.ErrExists)
		}
		inside[d.Name] = true
		if err := m.checkDestination(d); err != nil {
			return fmt.Errorf("declare %s: %w", d.Name, err)
		}
	}
	for _, d := range t.Destinations {
		for queue := range d.Bindings {
			if !inside[queue] && !m.model.has(queue) {
				return fmt.Errorf("declare %s: binding: %w", d.Name, notFound(queue))
			}
		}
	}
	return nil
}

// wanted pairs a wish with the capability it needs.
type wanted struct {
	asked bool
	what  string
	need  contract.Capability
}

func (m *Machine) refuse(wishes ...wanted) error {
	for _, w := range wishes {
		if w.asked && !m.can(w.need) {
			return unsupported(w.what)
		}
	}
	return nil
}

func (m *Machine) checkDestination(d *broker.Destination) error {
	err := m.refuse(
		wanted{d.Kind == broker.Exchange, "exchange", contract.FanOut},
		wanted{d.Partitions > 1, "partitions", contract.Partitions},
		wanted{d.FIFO, "fifo", contract.FIFOGroups},
		wanted{d.Lease > 0, "lease", contract.Lease},
		wanted{d.MaxDeliveries > 0, "max-deliveries", contract.DeadLetter},
		wanted{d.DedupWindow > 0, "dedup-window", contract.Deduplication},
		wanted{d.TTL > 0, "ttl", contract.MessageTTL},
		wanted{d.Delay > 0, "delay", contract.Delay},
	)
	switch {
	case err != nil:
		return err
	case d.MaxLength > 0 || d.Overflow != "":
		return unsupported("max-length")
	case len(d.Native) > 0 && m.rules.Model == contract.Log:
		return unsupported("native arguments")
	case d.Lease != 0 && m.rules.Lease.Fit(d.Lease) != d.Lease:
		return unsupported(fmt.Sprintf("lease of %v (%s: at least %v, in steps of %v)",
			d.Lease, m.rules.Lease.Name, m.rules.Lease.Floor, m.rules.Lease.Step))
	}
	return m.model.check(d)
}

func (m *Machine) checkConsumer(spec broker.ConsumerSpec) error {
	if !m.model.has(spec.From) {
		return notFound(spec.From)
	}
	if spec.Isolation != "" && spec.Isolation != "uncommitted" {
		return unsupported("isolation " + spec.Isolation)
	}
	if spec.Exclusive {
		return unsupported("exclusive consumer")
	}
	if m.can(contract.Groups) && spec.Session != 0 && spec.Session < m.rules.Session.Floor {
		return refused("join", "session timeout is outside the allowed range", nil)
	}
	return m.refuse(
		wanted{spec.StaticID != "", "static membership", contract.Groups},
		wanted{spec.Strategy != "", "assignment strategy", contract.Groups},
		wanted{spec.AutoCommit > 0, "auto-commit", contract.AutoCommit},
		wanted{spec.AutoAck, "auto-ack", contract.Prefetch},
		wanted{spec.Start != broker.Earliest, "start position", contract.Seek},
	)
}

func (m *Machine) checkProducer(spec broker.ProducerSpec) error {
	if spec.Acks != "" && spec.Acks != "all" && (m.rules.Model != contract.Log || spec.Acks != "0" && spec.Acks != "1") {
		return unsupported("acks " + spec.Acks)
	}
	if spec.NoConfirms && m.rules.Model != contract.PushQueue {
		return unsupported("publishing without confirms")
	}
	if spec.TransactionID != "" && (spec.Acks == "0" || spec.Acks == "1") {
		return unsupported("transactions with acks " + spec.Acks)
	}
	return m.refuse(
		wanted{spec.Idempotent, "idempotent producer", contract.Idempotence},
		wanted{spec.TransactionID != "", "transactions", contract.Transactions},
		wanted{spec.Mandatory, "mandatory", contract.Returns},
	)
}

// checkMessage refuses what the broker would refuse in any message.
func (m *Machine) checkMessage(one *msg.Message) error {
	if len(one.Body) > m.rules.maxBody {
		return refused("publish", "too large", fmt.Errorf("body of %d bytes, at most %d", len(one.Body), m.rules.maxBody))
	}
	if one.Delay|one.TTL|time.Duration(one.Priority)|time.Duration(len(one.Dedup)) == 0 {
		return nil
	}
	err := m.refuse(
		wanted{one.Delay > 0, "delay", contract.Delay},
		wanted{one.TTL > 0, "ttl", contract.MessageTTL},
		wanted{one.Priority > 0, "priority", contract.Priorities},
		wanted{one.Dedup != "", "deduplication id", contract.Deduplication},
	)
	if err != nil {
		return refused("publish", "", err)
	}
	return nil
}
