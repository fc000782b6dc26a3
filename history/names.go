// SPDX-License-Identifier: Apache-2.0

package history

// Table is a space of interned texts; number 0 of each is the empty text. A number is
// good in the process that interned it; the reader gives every process the same ones.
type Table uint8

const (
	// Sessions: "name|group|destination": a producer's or consumer's session.
	Sessions Table = iota
	// Places: "destination|partition", or "destination|" for the whole.
	Places
	// Keys: ordering keys.
	Keys
	// Texts: errors, causes, names of faults and phases.
	Texts

	// Tables is how many tables there are.
	Tables
)
