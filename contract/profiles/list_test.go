// SPDX-License-Identifier: Apache-2.0

package profiles

import (
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/contract"
)

func TestNamesAreUniqueAndFound(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range All() {
		if seen[p.Name] {
			t.Errorf("%s is listed twice", p.Name)
		}
		seen[p.Name] = true
		if got, err := Named(p.Name); err != nil || got.Name != p.Name {
			t.Errorf("Named(%q) = %q, %v", p.Name, got.Name, err)
		}
	}
	for _, a := range Aliases() {
		if seen[a.Short] {
			t.Errorf("alias %s hides a profile", a.Short)
		}
		if got, err := Named(a.Short); err != nil || got.Name != a.Name {
			t.Errorf("Named(%q) = %q, %v", a.Short, got.Name, err)
		}
	}
}

func TestUnknownNameTellsTheNearest(t *testing.T) {
	for name, want := range map[string]string{
		"kafak":                "kafka",
		"rabbitmq-4.0-quorom":  "rabbitmq-4.0-quorum",
		"localstack-4.9-fifoo": "localstack-4.9-fifo",
		"sqs-fif":              "sqs-fifo",
	} {
		_, err := Named(name)
		if err == nil || !strings.Contains(err.Error(), `did you mean "`+want+`"?`) {
			t.Errorf("Named(%q): %v, want a hint at %q", name, err, want)
		}
	}
}

func TestForTakesTheVersionOfTheServer(t *testing.T) {
	for _, c := range []struct {
		product, version, configuration, want string
		exact                                 bool
	}{
		{"rabbitmq", "3.10.8", "quorum", "rabbitmq-3.10-quorum", true},
		{"rabbitmq", "3.13.7", "quorum", "rabbitmq-3.10-quorum", false},
		{"rabbitmq", "4.0.5", "quorum", "rabbitmq-4.0-quorum", true},
		{"rabbitmq", "4.1.0", "classic", "rabbitmq-4.0-classic", false},
		{"rabbitmq", "3.8.0", "classic", "rabbitmq-3.10-classic", false},
		{"kafka", "4.1.0", "range", "kafka-4.1-sarama", true},
	} {
		p, exact, err := For(c.product, c.version, c.configuration)
		if err != nil || p.Name != c.want || exact != c.exact {
			t.Errorf("For(%s, %s, %s) = %s, %v, %v; want %s, %v", c.product, c.version, c.configuration, p.Name, exact, err, c.want, c.exact)
		}
	}
	if _, _, err := For("rabbitmq", "4.0.5", "stream"); err == nil || !strings.Contains(err.Error(), `"stream"`) {
		t.Errorf("stream: %v", err)
	}
}

func TestProfilesAreComplete(t *testing.T) {
	for _, p := range All() {
		t.Run(p.Name, func(t *testing.T) {
			if p.Model == contract.NoModel || p.Publish == contract.Unclassed || p.Settle == contract.Unclassed {
				t.Error("model, publish or settle is the zero value")
			}
			if p.Order == "" || p.Stale == "" || p.Nodes == 0 || p.Tolerance == 0 {
				t.Error("order, stale, nodes or tolerance is missing")
			}
			if p.Can.Has(contract.Lease) && p.Lease.Default == 0 {
				t.Error("a lease without a default")
			}
			if p.Can.Has(contract.Requeue) && (p.Requeue == contract.PlaceNone || p.Return == contract.PlaceNone) {
				t.Error("requeue without a place")
			}
			if p.Can.Has(contract.Deduplication) != (p.DedupWindow > 0) {
				t.Error("deduplication and window disagree")
			}
			if (p.Model == contract.Log) != p.Can.Has(contract.Partitions) {
				t.Error("model and partitions disagree")
			}
		})
	}
}
