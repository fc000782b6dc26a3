// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/faults"
)

// TestHeals: the latest first, each once, whoever heals it, and one that fails stops none.
func TestHeals(t *testing.T) {
	var healed []string
	var h faults.Heals
	owe := func(name string, err error) *faults.Owed {
		return h.Owe(name, "turn it off and on", func(context.Context) error {
			healed = append(healed, name)
			return err
		})
	}
	owe("a", nil)
	b := owe("b", nil)
	owe("c", errors.New("stuck"))
	owe("d", nil)
	if err := b.Heal(t.Context()); err != nil {
		t.Error(err)
	}
	err := h.Run(t.Context())
	if want := []string{"b", "d", "c", "a"}; !slices.Equal(healed, want) {
		t.Errorf("healed %v, want %v", healed, want)
	}
	if err == nil || !strings.Contains(err.Error(), "c is still broken: its heal failed: stuck; to repair it by hand: turn it off and on") {
		t.Errorf("%v", err)
	}
	if err := errors.Join(h.Run(t.Context()), b.Heal(t.Context())); err != nil || len(healed) != 4 {
		t.Errorf("healed again: %v, %v", healed, err)
	}
}

func TestIsNamed(t *testing.T) {
	for _, c := range []struct {
		spec, who string
		want      bool
	}{
		{"p0", "p0", true}, {"p01", "p0", false},
		{"billing/1-2-1", "billing/1", true}, {"billing/1-2-1", "billing", true},
		{"billing/10-1-1", "billing/1", false}, {"billing-eu/0-1-1", "billing", false},
		{"billing/1-1-out", "billing/1", true}, {"audit-orders", "orders", false},
	} {
		if got := faults.IsNamed(c.spec, c.who); got != c.want {
			t.Errorf("%s is %s: %t", c.spec, c.who, got)
		}
	}
}
