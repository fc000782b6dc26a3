// SPDX-License-Identifier: Apache-2.0

package explore

import (
	"strings"

	"github.com/seed-720a3c77/harness/contract"
)

// endOfChannel is the cause of what comes again as a channel has ended, and sameEnd are the causes
// that it also has.
const endOfChannel = ".session-died"

var sameEnd = [...]string{".settle-refused", ".settle-unknown"}

// together adds up counts that no model can tell apart. A client of a push queue meets the end of
// its channel in several of its tasks: one is told of it, others have their acks refused, or hear
// nothing of them. Which of these is noted before the message comes again is a matter of whose
// turn it is on the processor, and that gives the redelivery its cause; how many there are is not.
func together(counts map[string]int64, model contract.Model) {
	if model != contract.PushQueue {
		return
	}
	for name, n := range counts {
		for _, cause := range sameEnd {
			if of, is := strings.CutSuffix(name, cause); is {
				counts[of+endOfChannel] += n
				delete(counts, name)
			}
		}
	}
}
