// SPDX-License-Identifier: Apache-2.0

// Package clock is time and tasks: one program runs on virtual time, deterministic and
// at the speed of the processor, or on real time, without a change.
//
// Virtual is a scheduler of discrete events: one task runs at a time, waiting costs
// nothing, and what the program leaves open is drawn from the seed: the order of events
// of one instant and the random streams. Seeds explore little without latencies drawn
// from such streams: with fixed ones, few events meet at one instant. Wall is goroutines
// and the monotonic clock. The program must not wait, or tell the time, except through
// the clock: no go statement, channel, wait under a mutex, time.Sleep, time.After,
// time.Now, and none of package context's WithCancel, WithTimeout, WithDeadline and
// AfterFunc.
//
// # Owners of callbacks
//
// A function given to At or Post may not wait. It belongs to the task of the context
// given, its owner: it is dropped when the owner, or a task above it, has been killed,
// and held while one is frozen. It outlives an owner that has returned. On Virtual
// nothing else runs meanwhile; on Wall calls for one owner come one at a time, but beside
// the owner's own code.
//
// # Traps
//
//   - A task that is killed while it holds a mutex keeps it: hold none across a clock call.
//   - Tell an engine first that a client vanished, then kill the client's task: what the
//     engine has promised to it can then go to another.
//   - A passive engine whose operations apply the deadlines that are due should apply those
//     before now only: the ones at now have an event of their own, so the seed decides.
//   - A real channel operation in a task of Virtual stops the whole run; Watch shows where.
//   - A clock call from a goroutine that a task started is a data race.
//   - In a testing/synctest bubble, make, run and close a clock inside it, and let handlers
//     that know only real time run through InBubble and Foreign.
//
// Read Clock next, then Virtual.Run, in virtual.go, from which everything else is reached.
package clock
