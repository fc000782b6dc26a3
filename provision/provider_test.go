// SPDX-License-Identifier: Apache-2.0

package provision

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

// scripted is a provider with a fixed answer.
type scripted struct {
	name    string
	err     error
	running bool
}

func (s scripted) Name() string                       { return s.name }
func (s scripted) Down(context.Context, string) error { return nil }

func (s scripted) Up(_ context.Context, engine string) (Endpoint, error) {
	return Endpoint{Engine: engine, Provider: s.name}, s.err
}

func (s scripted) Status(context.Context) ([]Endpoint, error) {
	if s.running {
		return []Endpoint{{Engine: Kafka, Provider: s.name}}, nil
	}
	return nil, nil
}

func TestFirst(t *testing.T) {
	cannot := &Unavailable{Provider: "p", Engine: Kafka, Why: "no such thing", Help: "install it"}
	broken := errors.New("broken")
	for name, tc := range map[string]struct {
		providers []Provider
		want      string   // provider, "" for an error
		asked     []string // in order
		is        error
	}{
		"the first that works": {
			[]Provider{scripted{name: "a", err: cannot}, scripted{name: "b"}, scripted{name: "c"}}, "b", []string{"a", "b"}, nil},
		"a running one before one to start": {
			[]Provider{scripted{name: "a"}, scripted{name: "b", running: true}}, "b", []string{"b"}, nil},
		"two running: the order given": {
			[]Provider{scripted{name: "a", running: true}, scripted{name: "b", running: true}}, "a", []string{"a"}, nil},
		"a failure ends the search": {
			[]Provider{scripted{name: "a", err: broken}, scripted{name: "b"}}, "", []string{"a"}, broken},
		"none can": {
			[]Provider{scripted{name: "a", err: cannot}, scripted{name: "b", err: cannot}}, "", []string{"a", "b"}, ErrUnavailable},
		"none given": {nil, "", nil, ErrUnavailable},
	} {
		got, attempts, err := First(t.Context(), tc.providers, Kafka)
		var asked []string
		for _, a := range attempts {
			asked = append(asked, a.Provider)
		}
		if got.Provider != tc.want || !slices.Equal(asked, tc.asked) || !errors.Is(err, tc.is) || (tc.want == "") != (err != nil) {
			t.Errorf("%s: %q, asked %v, error %v", name, got.Provider, asked, err)
		}
	}
}

func TestFirstNamesEveryReasonAndRemedy(t *testing.T) {
	providers := []Provider{
		scripted{name: "a", err: &Unavailable{Provider: "a", Engine: Kafka, Why: "no address", Help: "set one"}},
		scripted{name: "b", err: &Unavailable{Provider: "b", Engine: Kafka, Why: "no java", Help: "install java", Err: errors.New("cause")}},
	}
	_, _, err := First(t.Context(), providers, Kafka)
	for _, part := range []string{"no address", "set one", "no java", "install java", "cause"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v does not tell %q", err, part)
		}
	}
}

func TestFirstRefusesUnknownEngines(t *testing.T) {
	if _, attempts, err := First(t.Context(), []Provider{scripted{name: "a"}}, "kafak"); err == nil || attempts != nil {
		t.Errorf("First() = %v, %v", attempts, err)
	}
}
