// SPDX-License-Identifier: Apache-2.0

package blackbox

import (
	"context"
)

// Source tells what the program did. An error means that it cannot be told, which is
// never "no effect".
type Source interface {
	// Look tells what is to be found now. It is called from time to time, and once more
	// when every worker has left. Sources that hear of effects by themselves only say here
	// what went wrong since.
	Look(ctx context.Context, tell Tell) error
	// Close lets go of the source.
	Close() error
}

// Tell takes what a source found. An error is ErrGarbage or ErrUsed.
type Tell interface {
	// Happened: one more effect of the id, by a worker (or -1).
	Happened(worker int, id string) error
	// Before: the id had effects before the run. It is an error if it is one of the run's.
	Before(id string) error
	// Stands: so many effects of the id in all.
	Stands(id string, count int) error
}
