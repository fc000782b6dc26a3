// SPDX-License-Identifier: Apache-2.0

package clock

type bubble struct{}

func (b *bubble) sync(v *Virtual) {}
