// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"testing"
	"time"
)

// TestSweepBeganBeforeTheRun: where in its second LocalStack sweeps is nothing that a client
// chooses. With every sweep on the run's own seconds, a message that is requeued for a second
// came again once in the last two of a drain, in each of 1,000 seeds; LocalStack gave it
// twice in three of three runs.
func TestSweepBeganBeforeTheRun(t *testing.T) {
	opts := Options{Sweep: -300 * time.Millisecond}
	newScript(t, "localstack", opts, leaseRow{}.destinations()...).run(`
		at 0.3s
		send a1
		get A 1 = a1      # until 2.3 s
		at 2.6s
		get B 1 =
		at 2.7s
		get B 1 = a1(2)`)
}
