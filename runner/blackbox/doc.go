// SPDX-License-Identifier: Apache-2.0

// Package blackbox verifies a consumer that is a program of its own, in any language, on
// a real broker: it starts the program as worker processes, publishes, kills and freezes
// the workers, stores messages twice, waits until the broker has nothing left, and counts
// the effects that the program had.
//
//	Options --Plan--> Run --> history of publishes, process lives, faults, depth and effects
//
// The program is not changed. It finds the broker and its queue by environment variables
// (environment.go) or by placeholders in its arguments; the id of a message rides in a
// header, or is taken from the body by a path (body.go). A Source tells what the program
// did: a SQL query, an HTTP hook, an HTTP address to poll, or JSON lines of a file or of
// its output.
//
// What a program receives, handles and settles cannot be seen from outside. The history
// says so (history.Subscription.Opaque), and the checkers judge loss and effects alone. A
// source that cannot be read is an error, never "no effect". A program that ends by
// itself, hangs or writes garbage is named with the time and the last that it said, and no
// process of it outlives the run.
package blackbox
