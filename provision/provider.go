// SPDX-License-Identifier: Apache-2.0

package provision

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Provider is one way to get a broker. Implementations are safe for concurrent use, also
// by several processes at once.
type Provider interface {
	// Name is external, docker or native.
	Name() string
	// Up returns a broker that answers, starting it if it does not run yet. ErrUnavailable
	// means this machine cannot do it this way; any other error means it should have worked.
	Up(ctx context.Context, engine string) (Endpoint, error)
	// Down stops the broker and removes its data. Stopping what does not run is no error.
	Down(ctx context.Context, engine string) error
	// Status returns what Up would hand out without starting anything. A provider that
	// cannot work here has nothing and no error.
	Status(ctx context.Context) ([]Endpoint, error)
}

// ErrUnavailable is matched by every Unavailable.
var ErrUnavailable = errors.New("provider unavailable")

// Unavailable says why a provider cannot bring an engine up on this machine, and what
// would help.
type Unavailable struct {
	Provider, Engine string
	Why              string // lower case, no full stop
	Help             string // an instruction, may be empty
	Err              error  // cause, may be nil
}

// Error names provider, engine, reason and remedy in one line.
func (u *Unavailable) Error() string {
	text := fmt.Sprintf("%s cannot provide %s: %s", u.Provider, u.Engine, u.Why)
	if u.Err != nil {
		text += ": " + u.Err.Error()
	}
	if u.Help != "" {
		text += " (" + u.Help + ")"
	}
	return text
}

// Is matches ErrUnavailable.
func (u *Unavailable) Is(target error) bool { return target == ErrUnavailable }

// Unwrap returns the cause.
func (u *Unavailable) Unwrap() error { return u.Err }

// Attempt is one provider that was asked.
type Attempt struct {
	Provider string
	Err      error // nil for the one that worked
}

// First brings engine up by the first provider that works. Providers that have the broker
// already are asked before those that would have to start it. It stops at the first failure
// that is not ErrUnavailable. The attempts are in the order they were made.
func First(ctx context.Context, providers []Provider, engine string) (Endpoint, []Attempt, error) {
	if !slices.Contains(Engines(), engine) {
		return Endpoint{}, nil, fmt.Errorf("no provider knows the engine %q (one of %s)", engine, strings.Join(Engines(), ", "))
	}
	var attempts []Attempt
	for _, p := range runningFirst(ctx, providers, engine) {
		endpoint, err := p.Up(ctx, engine)
		attempts = append(attempts, Attempt{p.Name(), err})
		if err == nil {
			return endpoint, attempts, nil
		}
		if !errors.Is(err, ErrUnavailable) {
			return Endpoint{}, attempts, fmt.Errorf("provide %s: %w", engine, err)
		}
	}
	return Endpoint{}, attempts, noneWorked(engine, attempts)
}

func runningFirst(ctx context.Context, providers []Provider, engine string) []Provider {
	var running, rest []Provider
	for _, p := range providers {
		endpoints, _ := p.Status(ctx) // a failure shows again, and is reported, in Up
		if slices.ContainsFunc(endpoints, func(e Endpoint) bool { return e.Engine == engine }) {
			running = append(running, p)
			continue
		}
		rest = append(rest, p)
	}
	return append(running, rest...)
}

func noneWorked(engine string, attempts []Attempt) error {
	if len(attempts) == 0 {
		return fmt.Errorf("no provider for %s: none was given: %w", engine, ErrUnavailable)
	}
	reasons := make([]error, len(attempts))
	for i, a := range attempts {
		reasons[i] = a.Err
	}
	return fmt.Errorf("no provider for %s:\n%w", engine, errors.Join(reasons...))
}
