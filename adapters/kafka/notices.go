// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"sync"
	"sync/atomic"

	"github.com/seed-720a3c77/harness/broker"
)

// notices are told one at a time, as the client's goroutines bring them, and not at all
// once their hearer has vanished. The hearer may abandon whom it hears of.
type notices struct {
	hear   func(broker.Notice)
	mu     sync.Mutex
	silent atomic.Bool
}

func (n *notices) tell(one broker.Notice) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.hear != nil && !n.silent.Load() {
		n.hear(one)
	}
}
