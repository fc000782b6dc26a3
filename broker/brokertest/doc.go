// SPDX-License-Identifier: Apache-2.0

// Package brokertest is the conformance suite of the port: what every engine passes,
// the in-memory profiles on virtual time and the adapters on real brokers alike.
//
//	func TestConformance(t *testing.T) {
//		brokertest.Run(t, func(t *testing.T) *brokertest.Bench {
//			return &brokertest.Bench{Engine: open(t)}
//		})
//	}
//
// It has two tables. Basics holds for every engine. Capabilities has one case for each
// contract.Capability and looks both ways: what the profile declares must work, and
// what it does not declare must answer broker.ErrUnsupported (or, where there is no
// call that could be refused, must visibly not happen).
//
// A case measures time on the bench's clock only, and asserts two kinds of bound: a
// lease or delay never ends early, and what the profile promises happens before its
// deadline, tick and tolerance plus Bench.Grace. Everything else waits for a state.
//
// The suite is itself tested: a small engine passes it, and the same engine with one
// rule broken fails in the case that owns the rule.
package brokertest
