// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"

	"github.com/seed-720a3c77/harness/contract"
)

var (
	// ErrNoTarget: there is nothing of this name to break.
	ErrNoTarget = errors.New("no such target")
	// ErrNotActive: the fault was injected, but its effect could not be observed.
	ErrNotActive = errors.New("fault did not become active")
)

// Place is where workers run, which decides what can be done to them.
type Place struct {
	Profile contract.Profile
	// Virtual time: a worker is killed and frozen outright.
	Virtual bool
	// Process: workers are processes of their own.
	Process bool
}

// Process is a worker that can be broken.
type Process interface {
	// Alive tells whether it runs, frozen or not.
	Alive() bool
	// Kill ends it without a word to anybody.
	Kill(ctx context.Context) error
	// Freeze stops it where it stands; Thaw lets it go on.
	Freeze(ctx context.Context) error
	Thaw(ctx context.Context) error
	// Stop asks it to finish what it holds and leave; it returns when it has left.
	Stop(ctx context.Context) error
	// Start runs it again under the same name, with nothing remembered.
	Start(ctx context.Context) error
}

// Targets finds what is to be broken by the name the timeline uses.
type Targets interface {
	// Process finds a worker: GROUP/N. The error wraps ErrNoTarget.
	Process(name string) (Process, error)
}

// Heal repairs what a fault did. It may be called when there is nothing left to repair.
type Heal func(ctx context.Context) error

// Fault is one thing that goes wrong, ready to happen.
type Fault interface {
	// Inject makes it happen, waits until it is seen to be active, and returns its heal;
	// a nil heal means that there is nothing to repair. An error wraps ErrNoTarget or
	// ErrNotActive where that is what happened.
	Inject(ctx context.Context, at Targets) (Heal, error)
}

// Kind is an entry of the catalogue of faults.
type Kind struct {
	// Name is the word after do: in a timeline.
	Name string
	// Doc is one sentence: what it does, how it is confirmed, how it heals.
	Doc string
	// Repairs names the kinds that this one heals, for steps such as start and thaw.
	Repairs []string
	// Unable says why it cannot be done in a place; "" where it can.
	Unable func(Place) string
	// New makes the fault; decode fills a struct strictly from what the step says beside
	// do, target and its trigger.
	New func(target string, decode func(into any) error) (Fault, error)
}

func anywhere(Place) string { return "" }
