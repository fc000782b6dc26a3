// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"fmt"
	"strings"
)

// stuck describes a run that cannot go on: each living task and what it waits on.
func (v *Virtual) stuck(why error) error {
	var b strings.Builder
	v.main.describe(&b)
	return fmt.Errorf("clock: %w at %v:%s", why, v.now, b.String())
}

func (t *virtualTask) describe(b *strings.Builder) {
	if !t.ended() {
		fmt.Fprintf(b, "\n\t%s %s", t.name, t.activity())
	}
	for n := t.sons.first; n != nil; n = n.next {
		n.of.describe(b)
	}
}

// activity is what the task does or waits on.
func (t *virtualTask) activity() string {
	what := t.doing
	if t.parked && t.on != nil {
		what += " " + t.on.name
	}
	if t.isFrozen() {
		what += " (frozen)"
	}
	return what
}
