// SPDX-License-Identifier: Apache-2.0

// Package drive puts an inmem.Machine behind the broker port on a clock.Clock. It is the
// only place that knows both, and works the same on virtual and on real time:
//
//	broker.Engine -> one mutex, never held across a wait -> inmem.Machine
//	one armed timer at the machine's next deadline
//	one gate a consumer, woken when there may be something to receive
//	completions and notices posted to their owner
//
// The owner of a producer or consumer is the task whose context opened it. What a client
// does by itself belongs to it: heartbeats, automatic commits and lingering batches stop
// with a frozen task and end with a killed one. What is under way on the network belongs
// to nobody and arrives all the same.
//
// Latencies are drawn from seeded streams of the clock, one for each client; without
// jitter, seeds explore little but ties. See Options.
package drive
