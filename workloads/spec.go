// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"github.com/goccy/go-yaml/ast"

	"github.com/seed-720a3c77/harness/contract"
)

// Version is the version of the workload language. A file may name it as "version".
const Version = 1

// Spec is one workload with one variant applied. The words are those of the YAML.
type Spec struct {
	Version int      `yaml:"version,omitempty"`
	Name    string   `yaml:"name"`
	About   string   `yaml:"about"`
	Tags    []string `yaml:"tags,omitempty"`
	// Needs names capabilities without which the variant is not applicable.
	Needs []string `yaml:"needs,omitempty"`
	// Fidelity restricts where it runs: "", virtual or real.
	Fidelity string                 `yaml:"fidelity,omitempty"`
	Topology map[string]Destination `yaml:"topology"`
	Produce  []Produce              `yaml:"produce"`
	Consume  []Consume              `yaml:"consume"`
	Timeline []Step                 `yaml:"timeline,omitempty"`
	Drain    Drain                  `yaml:"drain,omitempty"`
	Sample   Duration               `yaml:"sample,omitempty"` // of the depth; 0 is 250ms
	// Seed of virtual runs where the command line gives none; 0 is 1.
	Seed   uint64 `yaml:"seed,omitempty"`
	Claims Claims `yaml:"claims"`
	// Budgets bound counts, as claims do.
	Budgets Budgets `yaml:"budgets,omitempty"`
	Expect  Expect  `yaml:"expect,omitempty"`

	// Variant is the name of the variant applied; empty if there is none.
	Variant string `yaml:"-"`
	// Source is the resolved YAML, for the manifest.
	Source string `yaml:"-"`
}

// Destination of the topology.
type Destination struct {
	Partitions int  `yaml:"partitions,omitempty"`
	FIFO       bool `yaml:"fifo,omitempty"`
	// Lease is how long a delivery is held before others get it.
	Lease Duration `yaml:"lease,omitempty"`
	// MaxDeliveries counts deliveries; 0 is the broker's default, -1 unlimited.
	MaxDeliveries int    `yaml:"max-deliveries,omitempty"`
	DeadLetter    string `yaml:"dead-letter,omitempty"`
	// Retry marks a destination that takes failed messages for another try of this one.
	RetryOf string `yaml:"retry-of,omitempty"`
	// FanOut makes it an exchange with a queue for each name.
	FanOut []string          `yaml:"fan-out,omitempty"`
	Native map[string]string `yaml:"native,omitempty"`
}

// Produce is one producer, or several of the same kind.
type Produce struct {
	To        string   `yaml:"to"`
	Count     int      `yaml:"count"`
	Rate      Rate     `yaml:"rate"`
	Producers int      `yaml:"producers,omitempty"` // 0 is one
	Keys      int      `yaml:"keys,omitempty"`      // 0 is one key a producer
	Size      Size     `yaml:"size,omitempty"`      // of the body; 0 is 200 bytes
	Start     Duration `yaml:"start,omitempty"`     // of the schedule
	Acks      string   `yaml:"acks,omitempty"`
	Confirms  string   `yaml:"confirms,omitempty"` // "", on, off
	Mandatory bool     `yaml:"mandatory,omitempty"`
	// Idempotent and Retries are the client's; copies stored are at most 1 + retries.
	Idempotent bool     `yaml:"idempotent,omitempty"`
	Retries    int      `yaml:"retries,omitempty"`
	InFlight   int      `yaml:"in-flight,omitempty"`
	Linger     Duration `yaml:"linger,omitempty"`
	Timeout    Duration `yaml:"timeout,omitempty"`
	// OnError is the application's rule: give-up (default), resend, believe.
	OnError string `yaml:"on-error,omitempty"`
	// Resends bounds on-error: resend; 0 is 3.
	Resends int `yaml:"resends,omitempty"`
}

// Consume is one subscription with its workers.
type Consume struct {
	From  string `yaml:"from"`
	Group string `yaml:"group"`
	// Workers is how many run at the start; 0 is one. They are named GROUP/0, GROUP/1 ...
	Workers  int    `yaml:"workers,omitempty"`
	Batch    int    `yaml:"batch,omitempty"`    // of a receive; 0 is 10
	Prefetch int    `yaml:"prefetch,omitempty"` // 0 is batch
	RunIn    string `yaml:"run-in,omitempty"`   // "", task, process
	Start    string `yaml:"start,omitempty"`    // earliest (default), latest
	// Session is how soon a silent worker is given up; 0 is the engine's shortest.
	Session Duration `yaml:"session,omitempty"`
	// Strategy is how a log's group shares out partitions; "" is the engine's own.
	Strategy string `yaml:"strategy,omitempty"`
	// Static workers are members of a log's group by a name that outlives them: one that
	// is back within its session finds its partitions as it left them.
	Static    bool      `yaml:"static,omitempty"`
	Settle    Settle    `yaml:"settle"`
	Handler   Handler   `yaml:"handler,omitempty"`
	Effect    Effect    `yaml:"effect,omitempty"`
	OnFailure OnFailure `yaml:"on-failure,omitempty"`
}

// Settle says when and how the worker settles.
type Settle struct {
	// When is before-handler, after-handler, after-batch, auto or never.
	When string `yaml:"when"`
	// How is sync (default: the worker waits for the answer) or async.
	How string `yaml:"how,omitempty"`
	// Every is the interval of auto.
	Every Duration `yaml:"every,omitempty"`
	// Renew extends the lease of what is being handled at this interval; 0 is not at all.
	Renew Duration `yaml:"renew,omitempty"`
}

// Handler is the scripted work.
type Handler struct {
	Takes Duration `yaml:"takes,omitempty"`
	// Script says what happens to single messages.
	Script []Script `yaml:"script,omitempty"`
}

// Script of the handler for one message, or for every n-th.
type Script struct {
	ID    string `yaml:"id,omitempty"`
	Every int    `yaml:"every,omitempty"`
	// Do is fail, panic, hang or delay.
	Do string `yaml:"do"`
	// Times is how often; 0 is always.
	Times int      `yaml:"times,omitempty"`
	For   Duration `yaml:"for,omitempty"` // of delay
}

// Effect says where side effects land, written as a mode or as a mapping.
type Effect struct {
	Store string `yaml:"store,omitempty"` // memory (default), sqlite, postgres
	// Mode is none, plain (default), upsert, claim or transactional.
	Mode string `yaml:"mode,omitempty"`
}

// UnmarshalYAML takes the mode alone too.
func (e *Effect) UnmarshalYAML(n ast.Node) error {
	if n.Type() != ast.MappingType && n.Type() != ast.MappingValueType {
		e.Mode = scalar(n)
		return nil
	}
	type plain Effect
	return decodeNode(n, (*plain)(e))
}

// OnFailure says what the worker does with a message whose handler failed.
type OnFailure struct {
	// Then is requeue, reject, retry (in place), expire (let the lease end), republish,
	// dead-letter or skip. The zero value is what the model does by itself: requeue on
	// queues, retry in place on logs.
	Then string `yaml:"then,omitempty"`
	// After is how many failed attempts come first; before that the model's own way.
	After int `yaml:"after,omitempty"`
	// To is the destination of republish and dead-letter.
	To    string   `yaml:"to,omitempty"`
	Delay Duration `yaml:"delay,omitempty"`
}

// Drain bounds the drain.
type Drain struct {
	// Limit ends a drain that makes no end, such as a poison message retried forever.
	Limit Duration `yaml:"limit,omitempty"`
}

// Step of the timeline. What a fault needs beside these words stays in Node.
type Step struct {
	Line    int
	Trigger Trigger
	Do      string
	Target  string
	// For is how long it lasts, from when it came due; 0 is until something else heals it.
	For Duration
	// Repeat makes it, and the steps that follow it, happen again.
	Repeat Repeat
	Node   ast.Node
}

// Repeat is a storm: Every so often, For so long or so many Times. A step that waits for
// something else than a time waits for it Times times.
type Repeat struct {
	Every Duration `yaml:"every,omitempty"`
	For   Duration `yaml:"for,omitempty"`
	Times int      `yaml:"times,omitempty"`
	// Jitter makes each later by up to so much, drawn from the seed. Who reached a point
	// goes on meanwhile.
	Jitter Duration `yaml:"jitter,omitempty"`
}

// Trigger says when a step is due: At a time or a point, or After the step before it.
type Trigger struct {
	At     Duration `yaml:"at,omitempty"`
	After  Duration `yaml:"after,omitempty"`
	Worker string   `yaml:"worker,omitempty"`
	// Point is received, before-handler, mid-batch, after-effect or after-settle; mid-batch
	// is after the effect of the n-th message of a batch that has more. At assign and revoke
	// the worker is told that it got or lost a partition.
	Point string `yaml:"point,omitempty"`
	// N is the place in the batch at a point of the handler, and the n-th time at anything
	// else, from 1; 0 is the first.
	N int `yaml:"n,omitempty"`
	// ID restricts a point, or a call, to one message.
	ID string `yaml:"id,omitempty"`
	// Operation makes it the n-th such call of the port, before it is made; a receive counts
	// each message that it brought. By, To and Key restrict the calls.
	Operation string `yaml:"operation,omitempty"`
	By        string `yaml:"by,omitempty"`
	To        string `yaml:"to,omitempty"`
	Key       string `yaml:"key,omitempty"`
	// Fault is a kind of fault of the timeline, or a kind and its target, and State what it
	// became: active (the default) or healed.
	Fault string `yaml:"fault,omitempty"`
	State string `yaml:"state,omitempty"`
	// Timed tells "at: 0s" from no time; Following, that the time is after the step before.
	Timed     bool `yaml:"-"`
	Following bool `yaml:"-"`
}

// Claims by variant: a list applies to all, a mapping to the variants that have the key.
type Claims []VariantClaims

// VariantClaims are claims of the variants that hold every part of Variant.
type VariantClaims struct {
	Variant string
	Claims  []contract.Claim
}

// Expect is what variants are known to show.
type Expect []VariantExpectation

// VariantExpectation applies to the variants that hold every part of Variant.
type VariantExpectation struct {
	Variant string
	contract.Expectation
}
