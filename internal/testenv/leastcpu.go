// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"testing"
	"time"
)

// LeastCPU measures one thing several times and keeps the least processor time: what it
// costs when nothing disturbs it. The zero value is ready.
type LeastCPU struct{ began, least time.Duration }

// Begin is called before the thing to be measured, and End after it.
func (l *LeastCPU) Begin() { l.began = CPUTime() }

// End ends what Begin began.
func (l *LeastCPU) End() {
	if took := CPUTime() - l.began; l.least == 0 || took < l.least {
		l.least = took
	}
}

// PerEvent reports the least time for each of so many events.
func (l *LeastCPU) PerEvent(b *testing.B, events int64) {
	b.ReportMetric(float64(l.least.Nanoseconds())/float64(events), "least-cpu-ns/event")
}
