// SPDX-License-Identifier: Apache-2.0

package drive

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/contract"
)

// inTransaction begins one on an engine with the log q.
func inTransaction(t *testing.T, opts Options, body func(ctx context.Context, e *Engine, p broker.Producer)) {
	onVirtual(t, 1, func(ctx context.Context, v *clock.Virtual) {
		e := New(v, profileOf(t, "kafka"), opts)
		declare(ctx, e, broker.Destination{Name: "q"})
		p, err := e.Producer(ctx, broker.ProducerSpec{Name: "p", TransactionID: "tx", Timeout: time.Second})
		must(err)
		must(p.Begin(ctx))
		body(ctx, e, p)
	})
}

func wantClass(t *testing.T, what string, err error, want contract.Class) {
	t.Helper()
	if _, class := broker.Classify(err, contract.OK); class != want {
		t.Errorf("%s: %v is %v, want %v", what, err, class, want)
	}
}

// The client refuses to commit a transaction of which an answer did not come.
func TestCommitAfterALostAnswer(t *testing.T) {
	lost := Options{Wire: func(a Attempt) Fate { return AnswerLost }}
	inTransaction(t, lost, func(ctx context.Context, e *Engine, p broker.Producer) {
		must(p.Publish(ctx, message("q", 0, "k"), func(broker.Receipt, error) {}))
		err := p.Commit(ctx)
		wantClass(t, "commit", err, contract.Rejected)
		if err == nil || !strings.Contains(err.Error(), "a record of it was not stored") {
			t.Errorf("commit: %v", err)
		}
		must(p.Abort(ctx))
		must(p.Begin(ctx))
		must(p.Commit(ctx))
	})
}

// Whether a commit whose answer is lost holds is not known to its client; here it does. One
// that never arrives does not.
func TestCommitOnABrokenLink(t *testing.T) {
	for way, want := range map[string]int64{"down": 2, "up": 0} {
		inTransaction(t, Options{}, func(ctx context.Context, e *Engine, p broker.Producer) {
			must(p.Publish(ctx, message("q", 0, "k"), func(_ broker.Receipt, err error) { must(err) }))
			must(p.Flush(ctx))
			heal, err := e.Link("p", func(string) bool { return true }).Drop(ctx, way)
			must(err)
			wantClass(t, "commit over a link that drops what goes "+way, p.Commit(ctx), contract.Unknown)
			must(heal(ctx))
			d, err := e.Depth(ctx, "q", "")
			must(err)
			if d.Stable != want {
				t.Errorf("%s: stable end %d, want %d", way, d.Stable, want)
			}
		})
	}
}

func TestAbandonedTransaction(t *testing.T) {
	inTransaction(t, Options{}, func(ctx context.Context, _ *Engine, p broker.Producer) {
		p.Abandon()
		if err := p.Commit(ctx); !errors.Is(err, broker.ErrClosed) {
			t.Errorf("commit: %v", err)
		}
	})
}
