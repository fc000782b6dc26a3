// SPDX-License-Identifier: Apache-2.0

package brokertest

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/seed-720a3c77/harness/broker"
)

// Bench is an engine under test and the time it lives on. A case gets a bench of its
// own. Only Engine is needed; the zero value of the rest is wall time.
type Bench struct {
	// Engine is closed by the case, inside Run.
	Engine broker.Engine
	// Run calls body on the engine's time and returns when body has. An engine on virtual
	// time runs it as the main task of its clock.
	Run func(body func(ctx context.Context))
	// Sleep and Now are of that time.
	Sleep func(ctx context.Context, d time.Duration) error
	Now   func() time.Duration
	// Prefix makes the names of destinations, groups and clients unique; empty is random.
	Prefix string
	// Grace is added to every upper bound, for a machine that is busy; 0 is ten seconds on
	// wall time and nothing where Now is given.
	Grace time.Duration
	// Raw stores a message without the port, or is nil: it lets the suite see a corrupt
	// and a foreign one.
	Raw func(ctx context.Context, to string, headers map[string]string, body []byte) error
}

// withDefaults fills in wall time.
func (b Bench) withDefaults() Bench {
	if b.Prefix == "" {
		b.Prefix = "conf-" + rand.Text()[:10] + "-"
	}
	if b.Run == nil {
		b.Run = func(body func(context.Context)) { body(context.Background()) }
	}
	if b.Now != nil {
		return b
	}
	start := time.Now()
	b.Now = func() time.Duration { return time.Since(start) }
	b.Sleep = sleep
	if b.Grace == 0 {
		b.Grace = 10 * time.Second
	}
	return b
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
