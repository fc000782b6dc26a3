// SPDX-License-Identifier: Apache-2.0

package effects

import (
	"context"
	"errors"

	"github.com/seed-720a3c77/harness/msg"
)

// Mode is how effects are guarded. The zero value is refused.
type Mode string

const (
	// None: the handler has no effect that is watched.
	None Mode = "none"
	// Plain adds one each time.
	Plain Mode = "plain"
	// Upsert writes under the id.
	Upsert Mode = "upsert"
	// Claim takes the id first.
	Claim Mode = "claim"
	// Transactional writes effect and id together.
	Transactional Mode = "transactional"
)

// ErrMode is returned for a mode that does not exist.
var ErrMode = errors.New("effects: unknown mode")

// Key is one effect: of a message, in a subscription.
type Key struct {
	Subscription string
	ID           msg.ID
}

// Start is what a store says before the work.
type Start uint8

const (
	// Proceed: do the work.
	Proceed Start = iota
	// Done: the effect is there already; settle without working.
	Done
	// Busy: another worker has claimed it; do not settle, it may still fail.
	Busy
)

// Result is what a store says of an effect.
type Result struct {
	// Skipped: the effect was there already and was not repeated.
	Skipped bool
	// Refused: the store did not take it (the claim was lost to another worker).
	Refused bool
	// Count is how many effects the store now holds for the key.
	Count int
}

// Store counts effects. Its methods may be called concurrently. An error means that the
// outcome is unknown: it is never "0 effects".
type Store interface {
	// Name is shown in the report, such as "memory (upsert)".
	Name() string
	// Begin is called before the work, by a worker that names itself.
	Begin(ctx context.Context, k Key, worker string) (Start, error)
	// Apply is the effect.
	Apply(ctx context.Context, k Key, worker string) (Result, error)
	// Count is how many effects the store holds for a key.
	Count(ctx context.Context, k Key) (int, error)
	// Each tells the effects that the store holds of a subscription, in any order.
	Each(ctx context.Context, subscription string, tell func(id msg.ID, count int)) error
	Close() error
}
