// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

// capabilityCases has one entry for every contract.Capability; a test wants it complete.
func capabilityCases() map[contract.Capability]bothWays {
	return map[contract.Capability]bothWays{
		contract.Partitions:      {partitions, noPartitions},
		contract.Groups:          {groups, noGroups},
		contract.OffsetCommit:    {offsetCommit, refusedVerb(broker.Settlement{Verb: broker.Commit})},
		contract.AutoCommit:      {autoCommit, noAutoCommit},
		contract.Seek:            {seek, noSeek},
		contract.PauseConsumer:   {pauseConsumer, noPauseConsumer},
		contract.Acks:            {acks, refusedVerb(broker.Settlement{Verb: broker.Ack})},
		contract.Requeue:         {requeue, refusedVerb(broker.Settlement{Verb: broker.Requeue})},
		contract.RequeueDelay:    {requeueDelay, refusedVerb(broker.Settlement{Verb: broker.Requeue, Delay: time.Second})},
		contract.Reject:          {reject, refusedVerb(broker.Settlement{Verb: broker.Reject})},
		contract.AckMultiple:     {ackMultiple, refusedVerb(broker.Settlement{Verb: broker.Ack, Multiple: true})},
		contract.Lease:           {lease, refusedDestination("a lease", broker.Destination{Lease: 30 * time.Second})},
		contract.Extend:          {extend, refusedVerb(broker.Settlement{Verb: broker.Extend, Delay: 30 * time.Second})},
		contract.DeliveryCount:   {deliveryCount, noDeliveryCount},
		contract.RedeliveredFlag: {redeliveredFlag, noRedeliveredFlag},
		contract.DeadLetter:      {deadLetter, noDeadLetter},
		contract.FIFOGroups:      {fifoGroups, refusedDestination("message groups", broker.Destination{FIFO: true})},
		contract.Confirms:        {confirms, noConfirms},
		contract.Returns:         {returns, noReturns},
		contract.Prefetch:        {prefetch, noPrefetch},
		contract.FanOut:          {fanOut, refusedDestination("bindings", broker.Destination{Kind: broker.Exchange})},
		contract.Idempotence:     {idempotence, noIdempotence},
		contract.Deduplication:   {deduplication, noDeduplication},
		contract.Transactions:    {transactions, noTransactions},
		contract.BatchEntries:    {batchEntries, noBatchEntries},
		contract.Delay:           {delay, noDelay},
		contract.MessageTTL:      {messageTTL, noMessageTTL},
		contract.Priorities:      {priorities, noPriorities},
		contract.Purge:           {purge, noPurge},
	}
}

// refusedVerb is the case of a verb that an engine does not have.
func refusedVerb(s broker.Settlement) func(*probe) {
	return func(p *probe) {
		p.r.Helper()
		p.refusesVerb(s)
	}
}

// refusedDestination is the case of a destination that an engine cannot make.
func refusedDestination(what string, d broker.Destination) func(*probe) {
	return func(p *probe) {
		p.r.Helper()
		p.refusesDeclare(what, d)
	}
}

func noAutoCommit(p *probe) {
	p.refusesConsumer("automatic commit", func(s *broker.ConsumerSpec) { s.AutoCommit = time.Second })
	p.refusesVerb(broker.Settlement{Verb: broker.Mark})
}

func noSeek(p *probe) {
	r := p.receiver(p.declare(broker.Destination{}))
	p.refuses(r.Seek(p.ctx, 0, 0), "seek")
}

func noPauseConsumer(p *probe) {
	r := p.receiver(p.declare(broker.Destination{}))
	p.refuses(r.Pause(p.ctx), "pause")
	p.refuses(r.Resume(p.ctx), "resume")
}

func noReturns(p *probe) {
	p.refusesProducer("mandatory publishes", func(s *broker.ProducerSpec) { s.Mandatory = true })
}

func noIdempotence(p *probe) {
	p.refusesProducer("idempotence", func(s *broker.ProducerSpec) { s.Idempotent = true })
}

func noTransactions(p *probe) {
	p.refusesProducer("a transaction id", func(s *broker.ProducerSpec) { s.TransactionID = "t" })
	s := p.sender()
	p.refuses(s.Begin(p.ctx), "begin")
	p.refuses(s.Commit(p.ctx), "commit a transaction")
	p.refuses(s.Abort(p.ctx), "abort")
}

func noDeduplication(p *probe) {
	p.refusesDeclare("a deduplication window", broker.Destination{DedupWindow: 5 * time.Minute})
	p.refusesPublish("a deduplication id", func(m *msg.Message) { m.Dedup = "d" })
}

func noDelay(p *probe) {
	p.refusesDeclare("a delay", broker.Destination{Delay: time.Second})
	p.refusesPublish("a delay", func(m *msg.Message) { m.Delay = time.Second })
}

func noMessageTTL(p *probe) {
	p.refusesPublish("a time to live", func(m *msg.Message) { m.TTL = time.Second })
}

func noPriorities(p *probe) {
	p.refusesPublish("a priority", func(m *msg.Message) { m.Priority = 5 })
}

func noPurge(p *probe) {
	p.refuses(p.Engine.Purge(p.ctx, p.declare(broker.Destination{})), "purge")
}
