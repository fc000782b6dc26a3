// SPDX-License-Identifier: Apache-2.0

package blackbox

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/contract/profiles"
)

func planOf(t *testing.T, profile string, change func(*Options)) *Plan {
	t.Helper()
	p, err := tryPlan(profile, change)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func tryPlan(profile string, change func(*Options)) (*Plan, error) {
	known, err := profiles.Named(profile)
	if err != nil {
		return nil, err
	}
	return NewPlan(sound(change), known, 0xabc)
}

func TestIDs(t *testing.T) {
	for _, test := range []struct {
		name, body, path string
		want             []string // of the messages 0 and 1
		fails            string
	}{
		{"of the harness", defaultBody, "", []string{"00000abc-0", "00000abc-1"}, ""},
		{"from the body", defaultBody, "event_id", []string{"00000abc-0", "00000abc-1"}, ""},
		{"a number, nested", `{"order":{"items":[{"no":{{.Amount}}}]}}`, "$.order.items.0.no", []string{"100", "101"}, ""},
		{"twice the same", `{"id":"x"}`, "id", nil, `messages 0 and 1 have the same id "x"`},
		{"not there", `{"id":"{{.ID}}"}`, "event", nil, `the body has no "event"`},
		{"an object", `{"id":{"a":"{{.ID}}"}}`, "id", nil, "neither a text nor a number"},
		{"no JSON", `order {{.ID}}`, "id", nil, "the body is not JSON"},
		{"a bad template", `{{.Nothing}}`, "", nil, "body-template"},
		{"a broken template", `{{`, "", nil, "body-template"},
	} {
		p, err := tryPlan("sqs", func(o *Options) { o.Body, o.IDPath, o.Messages, o.Duplicate = test.body, test.path, 2, 0 })
		if test.fails != "" {
			if err == nil || !strings.Contains(err.Error(), test.fails) {
				t.Errorf("%s: error %v, want %q", test.name, err, test.fails)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if got := slices.Sorted(maps.Keys(p.ids)); !slices.Equal(got, test.want) || p.ids[test.want[1]] != 1 {
			t.Errorf("%s: ids %v, want %v", test.name, p.ids, test.want)
		}
	}
}

func TestMessageCarriesItsID(t *testing.T) {
	p := planOf(t, "sqs-fifo", func(o *Options) { o.IDHeader = "order-id" })
	first, err := p.message(12, 1, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if first.Headers["order-id"] != "00000abc-12" || first.Key != "k2" || first.ID.Seq != 12 || !strings.Contains(string(first.Body), `"event_id":"00000abc-12"`) {
		t.Errorf("message %+v, body %s", first, first.Body)
	}
	again, err := p.message(12, 2, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if first.Dedup != "" || again.Dedup == "" || string(again.Body) != string(first.Body) {
		t.Errorf("a copy must pass the broker's deduplication: %q and %q", first.Dedup, again.Dedup)
	}
}

func TestPlanFitsTheProfile(t *testing.T) {
	p := planOf(t, "sqs", func(o *Options) { o.Lease, o.Freeze, o.MaxDeliveries = 1500*time.Millisecond, 1, 3 })
	if p.Lease != 2*time.Second || len(p.Notes) != 1 {
		t.Errorf("lease %s, notes %q: want whole seconds and a note", p.Lease, p.Notes)
	}
	if len(p.Topology.Destinations) != 2 || p.Topology.Destinations[1].DeadLetter != p.DeadLetter {
		t.Errorf("topology %+v, want a dead-letter queue", p.Topology)
	}
	if p.FreezeFor <= p.Lease || p.Patience <= p.FreezeFor {
		t.Errorf("freeze for %s, patience %s: want both past the lease", p.FreezeFor, p.Patience)
	}
	h := p.Header()
	if !h.Subscriptions[0].Opaque || len(h.Faults) != 3 || h.Destinations[0].DeadLetterOf != source {
		t.Errorf("header %+v", h)
	}
}

func TestPlanRefusesWhatTheEngineCannotDo(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"lease":          func(o *Options) { o.Lease = time.Second },
		"max-deliveries": func(o *Options) { o.MaxDeliveries = 3 },
	} {
		if _, err := tryPlan("kafka", change); !errors.Is(err, ErrCannot) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s on kafka: %v", name, err)
		}
	}
}

func TestScheduleFollowsTheSeed(t *testing.T) {
	plan := func(seed uint64) *Plan {
		return planOf(t, "kafka", func(o *Options) { o.Kill, o.Stop, o.KillAll, o.Duplicate, o.Seed = 20, 5, 3, 50, seed })
	}
	one, same, other := plan(7), plan(7), plan(8)
	if !slices.Equal(one.strikes, same.strikes) || !maps.EqualFunc(one.again, same.again, slices.Equal) {
		t.Error("the same seed gave another schedule")
	}
	if slices.Equal(one.strikes, other.strikes) {
		t.Error("another seed gave the same schedule")
	}
	for _, s := range one.strikes {
		if s.after < 20 || s.after > 160 || s.worker > 1 || (s.worker == everybody) != (s.do == doKillAll) {
			t.Errorf("%s is outside of the load, or strikes nobody", s)
		}
	}
	copies := 0
	for after, all := range one.again {
		for _, n := range all {
			copies++
			if after < n || after > n+farthest {
				t.Errorf("the copy of %d comes after %d", n, after)
			}
		}
	}
	if len(one.strikes) != 28 || copies != 50 {
		t.Errorf("%d faults and %d copies, want 28 and 50", len(one.strikes), copies)
	}
}

func TestClaimsReachTheHeader(t *testing.T) {
	p := planOf(t, "kafka", func(o *Options) { o.Claim = contract.AtLeastOnce })
	if h := p.Header(); !slices.Equal(h.Claims, []contract.Claim{contract.AtLeastOnce}) {
		t.Errorf("claims %v", h.Claims)
	}
}
