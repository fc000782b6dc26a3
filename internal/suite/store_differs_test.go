// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/contract/profiles"
	"github.com/seed-720a3c77/harness/effects"
	"github.com/seed-720a3c77/harness/effects/sqlite"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/inmem/drive"
	"github.com/seed-720a3c77/harness/msg"
	"github.com/seed-720a3c77/harness/runner"
	"github.com/seed-720a3c77/harness/workloads"
)

const inSQLite = `name: stored
about: Effects in a store that is read at the end.
topology: {orders: {partitions: 1}}
produce: [{to: orders, count: 20, rate: 1000/s}]
consume: [{from: orders, group: billing, settle: {when: after-handler}, handler: {takes: 1ms}, effect: {store: sqlite, mode: transactional}}]
claims: effectively-once
`

// liar is a store that is planted a difference, in what it says at the end.
type liar struct {
	effects.Store
	each func(ctx context.Context, inner effects.Store, subscription string, tell func(msg.ID, int)) error
}

func (l liar) Each(ctx context.Context, subscription string, tell func(msg.ID, int)) error {
	return l.each(ctx, l.Store, subscription, tell)
}

// changed passes everything on but the effects of p0/7.
func changed(n int) func(context.Context, effects.Store, string, func(msg.ID, int)) error {
	return func(ctx context.Context, inner effects.Store, subscription string, tell func(msg.ID, int)) error {
		return inner.Each(ctx, subscription, func(id msg.ID, count int) {
			if id.Seq == 7 {
				count = n
			}
			if count > 0 {
				tell(id, count)
			}
		})
	}
}

func broken(context.Context, effects.Store, string, func(msg.ID, int)) error {
	return errors.New("the disk is gone")
}

// TestAStoreThatDiffersIsAnAnomaly: what was recorded is compared with what the store holds,
// and a store that cannot be read fails the run.
func TestAStoreThatDiffersIsAnAnomaly(t *testing.T) {
	for _, test := range []struct {
		name    string
		each    func(context.Context, effects.Store, string, func(msg.ID, int)) error
		verdict contract.Verdict
		differs int64
		failed  string
	}{
		{"honest", changed(1), contract.Pass, 0, ""},
		{"one effect is gone", changed(0), contract.Violated, 1, ""},
		{"one effect is there twice", changed(2), contract.Violated, 1, ""},
		{"cannot be read", broken, contract.Pass, 0, "the disk is gone"},
	} {
		r, err := storedIn(t, func(s effects.Store) effects.Store { return liar{s, test.each} })
		if test.failed == "" && err != nil || test.failed != "" && (err == nil || !strings.Contains(err.Error(), test.failed)) {
			t.Errorf("%s: %v, want %q", test.name, err, test.failed)
		}
		if got := r.Counts["effect-store-differs"]; r.Verdict != test.verdict || got != test.differs {
			t.Errorf("%s: %s, %d differences, want %s, %d: %s", test.name, r.Verdict, got, test.verdict, test.differs, r.Sentence)
		}
	}
}

// storedIn runs the workload with a store that is planted something.
func storedIn(t *testing.T, plant func(effects.Store) effects.Store) (checkers.Result, error) {
	t.Helper()
	doc, err := workloads.Parse("stored.yaml", []byte(inSQLite))
	if err != nil {
		t.Fatal(err)
	}
	spec, _ := doc.Spec("")
	profile, err := profiles.Named("kafka")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := runner.NewPlan(spec, profile, runner.Where{Virtual: true, Nonce: 1})
	if err != nil {
		t.Fatal(err)
	}
	clk := clock.NewVirtual(1)
	defer clk.Close()
	recording := history.NewMemory(plan.Header())
	var ran error
	crashed := clk.Run("stored", func(ctx context.Context) {
		ran = runner.Run(ctx, runner.Config{Plan: plan, Engine: drive.New(clk, profile, drive.Options{}), Clock: clk, Recording: recording,
			Store: func(g *runner.GroupPlan) (effects.Store, error) {
				s, err := sqlite.Open(ctx, clk, filepath.Join(t.TempDir(), "effects.db"), "run", g.EffectMode(), time.Minute)
				return plant(s), err
			}})
	})
	result, err := checkers.Check(recording.Run())
	if err != nil || crashed != nil {
		t.Fatal(err, crashed)
	}
	return result, ran
}
