// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
	"time"

	"github.com/seed-720a3c77/harness/broker"
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
	// Rig is what is there to break beside them; nil where nothing was looked at yet, and
	// nothing is refused for what it lacks.
	Rig *Rig
}

// Rig is what of a broker and its links can be broken. What is empty says why it is.
type Rig struct {
	// Nodes are the names of the broker's nodes.
	Nodes   []string
	NoNodes string
	// Links tells how many links of their own groups of clients can have; 0 is none.
	Links   int
	NoLinks string
}

// Node is one broker process or container.
type Node interface {
	Name() string
	// PID is the process id on this host, 0 if it does not run or has none.
	PID() int
	// Kill ends it at once and returns when it is gone.
	Kill(ctx context.Context) error
	// Freeze stops it with its connections open and returns when it stands still.
	Freeze(ctx context.Context) error
	Thaw(ctx context.Context) error
	// Restart starts it again with the data it had and returns when it answers.
	Restart(ctx context.Context) error
	// Control runs the broker's own control program on it (rabbitmqctl), where it has one,
	// and returns what that prints.
	Control(ctx context.Context, args ...string) (string, error)
}

// Link is the way between some clients and the broker. Each method breaks it, returns
// when every open connection is seen to be broken, and returns what repairs it. A way is
// "both", "up" (to the broker) or "down".
type Link interface {
	Name() string
	// Open is how many connections are open.
	Open() int
	// Delay makes every byte late by latency, give or take jitter.
	Delay(ctx context.Context, way string, latency, jitter time.Duration) (func(context.Context) error, error)
	// Hold keeps every byte until the repair: none is lost and connections live on.
	Hold(ctx context.Context, way string) (func(context.Context) error, error)
	// Drop loses every byte; connections that lost some end with the repair.
	Drop(ctx context.Context, way string) (func(context.Context) error, error)
	// Limit lets so many bytes a second through.
	Limit(ctx context.Context, way string, bytes int) (func(context.Context) error, error)
	// SlowClose makes the end of a connection late.
	SlowClose(ctx context.Context, late time.Duration) (func(context.Context) error, error)
	// Reset ends every connection abruptly; new ones are possible.
	Reset(ctx context.Context) error
	// Cut ends every connection and refuses new ones.
	Cut(ctx context.Context) (func(context.Context) error, error)
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
	// Node finds a node of the broker: "" and "broker" are the first, broker/N others.
	Node(name string) (Node, error)
	// Link finds the link of some clients: all, producers, a producer, a group, a worker.
	Link(name string) (Link, error)
	// Requests is the port, between the recorder and the engine.
	Requests() (*Requests, error)
	// Destination is what the broker knows a destination of the workload by, and Engine
	// what to reach it through.
	Destination(name string) (broker.Destination, error)
	Engine() broker.Engine
	// Until heals the fault as soon as over returns, where it ends by itself.
	Until(over func(ctx context.Context) error)
	// Mend heals the active faults of a kind, on a target or, with "", on all.
	Mend(ctx context.Context, kind, target string) error
}

// Heal repairs what a fault did. It may be called when there is nothing left to repair.
type Heal func(ctx context.Context) error

// Fault is one thing that goes wrong, ready to happen.
type Fault interface {
	// Inject makes it happen, waits until it is seen to be active, and returns its heal;
	// a nil heal means that there is nothing to repair. An error wraps ErrNoTarget or
	// ErrNotActive where that is what happened; with a heal it left something to repair.
	Inject(ctx context.Context, at Targets) (Heal, error)
}

// Aim is what the target of a step names.
type Aim uint8

const (
	// AtWorker is the zero value: a group or a worker of it.
	AtWorker Aim = iota
	// AtNode: a node of the broker.
	AtNode
	// AtLink: clients, by their names.
	AtLink
	// AtStored: a destination.
	AtStored
	// AtCalls: no target; what the fault says selects calls of the port.
	AtCalls
	// AtFault: a fault of the timeline.
	AtFault
)

// Mentioned are the names that a fault refers to beside its target.
type Mentioned struct {
	Clients, Destinations, Faults []string
	// Label says in a few words what is hit.
	Label string
	// Across: it hands something from one client's port to another's.
	Across bool
}

// Kind is an entry of the catalogue of faults.
type Kind struct {
	// Name is the word after do: in a timeline.
	Name string
	// Doc is one sentence: what it does, how it is confirmed, how it heals.
	Doc string
	// Repairs names the kinds that this one heals, for steps such as start and thaw.
	Repairs []string
	// Aim is what its target names.
	Aim Aim
	// Patient: Inject waits for traffic to be hit, which may not come.
	Patient bool
	// NeedsEnd: it must be given a time or a step that heals it, because a run cannot come
	// to its end before.
	NeedsEnd bool
	// ByHand tells a person what to do when its heal failed.
	ByHand string
	// Unable says why it cannot be done in a place; "" where it can.
	Unable func(Place) string
	// New makes the fault; decode fills a struct strictly from what the step says beside
	// do, target and its trigger.
	New func(target string, decode func(into any) error) (Fault, error)
	// Refuses says why this very fault cannot be done in a place; nil refuses nothing.
	Refuses func(f Fault, p Place) string
	// Mentions lists what the fault refers to; nil is nothing.
	Mentions func(f Fault) Mentioned
}

func anywhere(Place) string { return "" }
