// SPDX-License-Identifier: Apache-2.0

// Package record wraps the port so that no workload can forget to record:
//
//	runner -> record -> request faults -> engine
//
// A Recorder belongs to a run, a Task to one task of it and to one segment of the
// history. Producers and consumers made through a Task write every call, answer,
// delivery and notice; what only the worker knows (handler, effect, decision) it tells
// its Task itself. Intent is recorded before it is acted on, so that a crash leaves a
// truthful prefix. Nothing here judges, retries or waits.
package record
