// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"context"
	"time"
)

// plain does the work each time.
func plain(e Env) Handler {
	return func(ctx context.Context, m Message) error {
		return e.Effects.Apply(ctx, m.ID)
	}
}

// lookFirst looks, works, and notes in the end.
func lookFirst(e Env) Handler {
	return func(ctx context.Context, m Message) error {
		seen, err := e.Effects.Seen(ctx, m.ID)
		if err != nil || seen {
			return err
		}
		return e.Effects.Transaction(ctx, func(tx *Tx) error {
			tx.Apply(m.ID)
			tx.Remember(m.ID, 0)
			return nil
		})
	}
}

// noteAfter is safe against overlap, by a leased claim, and notes that it is done after the effect.
func noteAfter(e Env) Handler {
	return func(ctx context.Context, m Message) error {
		seen, err := e.Effects.Seen(ctx, m.ID)
		if err != nil || seen {
			return err
		}
		if err := e.Effects.Apply(ctx, m.ID); err != nil {
			return err
		}
		return e.Effects.Remember(ctx, m.ID, 0)
	}
}

// once puts key and effect into one transaction.
func once(e Env) Handler {
	return func(ctx context.Context, m Message) error {
		return e.Effects.Transaction(ctx, func(tx *Tx) error {
			if tx.Claim(m.ID, 0) != 0 {
				tx.Apply(m.ID)
			}
			return nil
		})
	}
}

var _ = time.Second
