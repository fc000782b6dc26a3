// SPDX-License-Identifier: Apache-2.0

package conformance

import "slices"

// Deviation is a case of the embedded set that is judged otherwise on purpose.
type Deviation struct{ ID, Reason string }

// Deviations lists them all. It is empty: where a source is weaker than this project, its
// kind still says what the source says, and the native verdict is the stricter one.
func Deviations() []Deviation { return nil }

func deviation(id string) (Deviation, bool) {
	i := slices.IndexFunc(Deviations(), func(d Deviation) bool { return d.ID == id })
	if i < 0 {
		return Deviation{}, false
	}
	return Deviations()[i], true
}
