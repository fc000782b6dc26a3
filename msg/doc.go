// SPDX-License-Identifier: Apache-2.0

// Package msg holds what identifies a message everywhere in the harness: ids, the
// message itself, and the envelope that carries the identity through a broker.
//
// An ID is (producer, sequence), dense from 0 for each producer, and independent of the
// body and of anything a broker assigns: two messages may have the same bytes, and one
// message may be stored twice. The Envelope rides in one header or attribute, beside
// the body, together with the attempt, the intended time and the checksum of the body.
//
// The package imports only the standard library and may be imported by every other.
package msg
