// SPDX-License-Identifier: Apache-2.0

// Package process runs workers as processes of their own, so that they can be killed and
// frozen as the operating system does it, the client library's heartbeats included.
//
//	harness --(stdin: job, begin, answers, orders, leave)--> worker
//	harness <--(file 3: ready, questions, counts, answers)-- worker
//
// The conversation is JSON, one message a line (message.go). The first line is the job:
// which worker of which workload, where its history goes, and how to reach the broker,
// credentials included; nothing of that is on a command line or in an environment.
//
// The worker attaches to the run's history with segments of its own and stamps it by the
// run's instant zero, so what it did is in the file before anybody can know of it. Its
// effects land in the harness, by way of the pipe: they live outside of the worker, as
// a database does. At a point that the timeline waits for it stands still until it is
// told to go on, so that a kill or freeze at a point is exact.
//
// A request fault of one worker strikes at the port in its process, when the harness orders
// it; the worker answers when the first call is hit.
//
// A worker that is to be killed is stopped first and killed while it stands. The instant
// between is when its death is recorded: later than all it did, and earlier than the
// broker can give its messages to others.
//
// A worker ends by itself when its pipe does, which is when the harness dies. A stopped
// one sees no closed pipe: for that there is a Guard, internal/watchdog.
//
// Linux and macOS, by runner/spawn. Read next: spawner.go, then child.go.
package process
