// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-720a3c77/harness/internal/suggest"
)

// The targets of a link fault beside the names of clients.
const (
	Everybody    = "all"
	AllProducers = "producers"
)

// The ways of a link.
const (
	BothWays = "both"
	Up       = "up"   // to the broker
	Down     = "down" // to the client
)

func checkWay(way string) error {
	all := []string{BothWays, Up, Down}
	if slices.Contains(all, way) {
		return nil
	}
	return errors.New(suggest.Unknown("way", way, all))
}

// breaking breaks a link and returns what repairs it; nil is nothing to repair.
type breaking func(ctx context.Context, link Link) (func(context.Context) error, error)

// linkKind is what all link faults have in common: their target is all, producers, a
// producer, a group or a worker, and they are confirmed by the open connections of those
// clients, of which each was changed and one at least was there.
func linkKind(name, doc string, build func(decode func(any) error) (breaking, error)) Kind {
	return Kind{
		Name: name, Doc: doc, Aim: AtLink, ByHand: "nothing: the link ends with the harness", Unable: needsLink,
		New: func(target string, decode func(any) error) (Fault, error) {
			do, err := build(decode)
			return brokenLink{target, do}, err
		},
	}
}

func needsLink(p Place) string {
	if p.Rig != nil && p.Rig.Links == 0 {
		return p.Rig.NoLinks
	}
	return ""
}

// needsBytes: the model moves messages and connections.
func needsBytes(p Place) string {
	if p.Virtual {
		return "the in-memory engine moves messages, not bytes"
	}
	return needsLink(p)
}

type brokenLink struct {
	target string
	do     breaking
}

func (f brokenLink) Inject(ctx context.Context, at Targets) (Heal, error) {
	link, err := at.Link(f.target)
	if err != nil {
		return nil, err
	}
	if link.Open() == 0 {
		return nil, fmt.Errorf("link of %s: %w: no connection is open", link.Name(), ErrNotActive)
	}
	repair, err := f.do(ctx, link)
	if err != nil {
		return nil, fmt.Errorf("link of %s: %w", link.Name(), err)
	}
	return repair, nil
}
