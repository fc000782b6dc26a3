// SPDX-License-Identifier: Apache-2.0

package faults

// MoveLeader would have another node of the broker take a partition or queue over. Nothing
// does it yet: every provider starts one node, and one node has nobody to hand over to. It
// is in the list so that a workload that asks for it is told why, before anything starts.
// On no engine.
func MoveLeader() Kind {
	return Kind{
		Name: "leader-move", Doc: "has another node take a destination over; not applicable where the broker is one node, which all providers start",
		Aim: AtStored, Unable: needsNodes,
		New: func(_ string, decode func(any) error) (Fault, error) { return nil, decode(&struct{}{}) },
	}
}

func needsNodes(p Place) string {
	if p.Virtual {
		return "the in-memory engine is one machine: there is no other node to lead"
	}
	return "the broker is one node: there is no other to lead"
}
