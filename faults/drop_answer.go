// SPDX-License-Identifier: Apache-2.0

package faults

// DropAnswer lets the broker apply requests and loses its answers, which is what makes
// outcomes unknown: the caller hears nothing until its timeout. Where the protocol has no
// answer to a settlement (basic.ack) the connection is cut after the write. The answer of
// a receive is lost with what it brought: it stays leased on a lease queue, elsewhere the
// connection is lost with it. At the port, on every engine, exact on virtual time.
// Confirmed by the first answer that was lost; it heals by answers arriving again.
func DropAnswer() Kind {
	return requestKind("drop-answer", "lets the broker apply requests and loses its answers; confirmed by the first one lost", func(decode func(any) error) (Rule, error) {
		return silence(decode, false)
	})
}
