// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract/profiles"
	"pgregory.net/rapid"
)

// TestFIFOInvariants holds every receive of a FIFO queue to the rules of message groups.
func TestFIFOInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { t.Repeat(rapid.StateMachineActions(newFIFOProperty(t))) })
}

// fifoProperty has an exported method for each thing that may happen.
type fifoProperty struct {
	s *script
	// stored is what is not deleted, by key and in order; flying is the end of each lease.
	stored map[string][]string
	flying map[string]time.Duration
	sent   int
}

const fifoLease = 2 * time.Second

func newFIFOProperty(t *rapid.T) *fifoProperty {
	p, _ := profiles.Named("sqs-fifo")
	return &fifoProperty{
		s:      newScriptOf(t, p, Options{}, broker.Destination{Name: "q", Lease: fifoLease}),
		stored: map[string][]string{}, flying: map[string]time.Duration{},
	}
}

// held are the messages in flight, of one key or of all.
func (p *fifoProperty) held(key string) (names []string) {
	for name, until := range p.flying {
		if until > p.s.now && strings.HasPrefix(name, key) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (p *fifoProperty) Send(t *rapid.T) {
	key := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "key")
	p.sent++
	name := key + strconv.Itoa(p.sent)
	p.s.send([]string{name})
	p.stored[key] = append(p.stored[key], name)
}

func (p *fifoProperty) Receive(t *rapid.T) {
	n := rapid.IntRange(1, 6).Draw(t, "n")
	closed := map[string]bool{}
	for key := range p.stored {
		closed[key] = len(p.held(key)) > 0
	}
	got, total := p.take(n)
	for key, names := range got {
		if closed[key] {
			t.Fatalf("received %v while the group is in flight", names)
		}
		if !slices.Equal(names, p.stored[key][:len(names)]) {
			t.Fatalf("received %v, the group has %v", names, p.stored[key])
		}
	}
	for key, all := range p.stored {
		if total < n && !closed[key] && len(got[key]) < len(all) {
			t.Fatalf("received %v of %v with room for %d", got[key], all, n)
		}
	}
}

// take receives, and returns what came by key.
func (p *fifoProperty) take(n int) (got map[string][]string, total int) {
	got = map[string][]string{}
	for _, name := range strings.Fields(p.s.get("A", n, 0)) {
		name, _, _ = strings.Cut(name, "(")
		got[name[:1]] = append(got[name[:1]], name)
		p.flying[name] = p.s.now + fifoLease
		total++
	}
	return got, total
}

func (p *fifoProperty) Delete(t *rapid.T) {
	names := p.held("")
	if len(names) == 0 {
		return
	}
	name := rapid.SampledFrom(names).Draw(t, "name")
	p.s.run("ack A " + name)
	delete(p.flying, name)
	p.stored[name[:1]] = slices.DeleteFunc(p.stored[name[:1]], func(other string) bool { return other == name })
}

func (p *fifoProperty) Wait(t *rapid.T) {
	p.s.until(p.s.now + rapid.SampledFrom([]time.Duration{time.Second, 2 * time.Second}).Draw(t, "time"))
}

func (p *fifoProperty) Check(*rapid.T) {}
