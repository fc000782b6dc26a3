// SPDX-License-Identifier: Apache-2.0

// Package inmem is the reference engine: a broker in memory that does what a profile
// says, exactly. It is a passive state machine. It has no goroutine, no clock and no
// wait; every operation is told the time, deadlines are applied from Advance, and what it
// has to say is taken out with Drain. inmem/drive puts it behind the broker port.
//
// One machine has one model:
//
//	log          partitions of offsets, consumer groups, committed positions   log_*.go
//	             transactions                                                  transaction*.go
//	lease queue  ready, in flight, deleted; leases and receipt handles         lease_*.go
//	push queue   channels, delivery tags, acks, exchanges                      push_*.go
//
// The machine holds the broker and the passive half of its clients: positions, marks and
// buffers of a log's consumer, the deliveries pushed to a channel. What a client does on
// its own timers (heartbeats, automatic commits, lingering batches, retries) is told to
// it by the driver, so that it stops with a frozen task.
//
// Rules come from contract/profiles, which were measured. Bugs can be planted (see Bugs),
// and an Oracle hears what really happened; no checker may read it.
//
// # Left out
//
// Several nodes, replication and unsynced tails, broker restarts. Logs: retention by time,
// compaction, one group over several topics, the initial rebalance delay, commits that wait
// behind a long poll, the period in which a coordinator looks for transactions that are open
// for too long. Lease queues: batch size in bytes, throttling, deduplication per group, and
// on standard queues spontaneous copies and overtaking. Push queues: overflow policies,
// priorities, several channels of one connection, alarms.
package inmem
