// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
)

// Mend heals what another step broke, before its time or the end of the run: all active
// faults of a kind, or the one on its target.
func Mend() Kind {
	return Kind{
		Name: "heal", Doc: "heals the active faults of a kind, or the one on its target", Aim: AtFault, Unable: anywhere,
		New: func(target string, decode func(any) error) (Fault, error) {
			var says struct {
				Fault string `yaml:"fault"`
			}
			if err := decode(&says); err != nil {
				return nil, err
			}
			if says.Fault == "" {
				return nil, errors.New("heal wants fault: the kind to heal")
			}
			return mend{says.Fault, target}, nil
		},
		Mentions: func(f Fault) Mentioned {
			return Mentioned{Faults: []string{f.(mend).kind}, Label: f.(mend).kind}
		},
	}
}

type mend struct{ kind, target string }

func (m mend) Inject(ctx context.Context, at Targets) (Heal, error) {
	return nil, at.Mend(ctx, m.kind, m.target)
}
