// SPDX-License-Identifier: Apache-2.0

// Package clock is time and tasks: one program runs on virtual time, deterministic and
// at the speed of the processor, or on real time, without a change.
//
// Virtual is a scheduler of discrete events: one task runs at a time, waiting costs
// nothing, and everything that is not determined by the program is drawn from the seed.
// Wall is goroutines and the monotonic clock. The program must not wait, or tell the
// time, except through the clock: no go statement, channel, wait under a mutex,
// time.Sleep, time.After, time.Now, and none of package context's WithCancel,
// WithTimeout, WithDeadline and AfterFunc.
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
// A task must not hold a mutex across a clock call: if it is killed there, the mutex stays
// locked. A real channel operation in a task of Virtual stops the whole run; Watch shows
// where. A clock call from a goroutine that a task started is a data race.
package clock
