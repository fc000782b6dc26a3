// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/seed-720a3c77/harness/checkers"
)

// pattern is a way in which consumers go wrong, as far as it shows from outside.
type pattern struct {
	name, seen, mend string
	// row and cause are of the findings that show it; a cause of "" is any.
	row, cause string
}

// lostRow has the messages that went without an effect.
const lostRow = "lost-without-effect"

// patterns names what the findings of a consumer look like, where copies messages were
// stored twice. Only the code can tell for certain.
func patterns(r *checkers.Result, copies int) []pattern {
	var found []pattern
	const twice, copied, died, unseen = "effect-duplicates", "producer copy", "a worker died in between", "deliveries not seen"
	byCopy := r.Counts[twice+".producer-copy"]
	byDeath := r.Counts[twice+".a-worker-died-in-between"]
	bySomething := r.Counts[twice] - byCopy - byDeath
	switch {
	case byCopy > 0 && byCopy == int64(copies):
		found = append(found, pattern{"no key, or the broker's id as the key",
			fmt.Sprintf("each of %d messages that were stored twice had its effect twice", byCopy),
			"note the id of the event under a unique key, in the transaction of the effect", twice, copied})
	case byCopy*2 >= int64(copies) && byCopy > 0, byCopy > 0 && byDeath == 0:
		found = append(found, pattern{"check-then-act",
			fmt.Sprintf("%d of %d messages that were stored twice had their effect twice: both were checked before either was noted", byCopy, copies),
			"let a unique key decide, in the transaction of the effect, and not a look before it", twice, copied})
	case byDeath > 0:
		seen := fmt.Sprintf("%d effects came again after a worker had died", byDeath)
		if copies > 0 {
			seen = fmt.Sprintf("%d of %d messages that were stored twice had their effect once, but %s", int64(copies)-byCopy, copies, seen)
		}
		found = append(found, pattern{"work before note", seen,
			"note the id in the same transaction as the effect, not after it", twice, died})
	case bySomething > 0:
		found = append(found, pattern{"check-then-act, or a lease that ran out",
			fmt.Sprintf("%d effects came again while no worker had died", bySomething),
			"let a unique key decide, in the transaction of the effect; extend the lease while the work goes on", twice, unseen})
	}
	if lost := r.Counts[lostRow]; lost > 0 {
		found = append(found, pattern{"settle before work, or claim before work",
			fmt.Sprintf("%d messages are gone from the broker and had no effect", lost),
			"settle last, and note the id in the transaction of the effect, not before it", lostRow, ""})
	}
	return found
}

// String is one line.
func (p pattern) String() string {
	return fmt.Sprintf("looks like %s: %s. To mend it: %s.", p.name, p.seen, p.mend)
}
