// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml/ast"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/internal/suggest"
	"github.com/seed-720a3c77/harness/msg"
)

const (
	maxMessages = 50_000_000
	maxWorkers  = 1_000
	maxKeys     = 1_000_000
)

// validate checks what the types cannot: names that refer to each other, words from
// fixed lists, and bounds.
func validate(s *Spec, root ast.Node) error {
	v := validation{spec: s, root: root}
	v.header()
	for name, d := range s.Topology {
		v.destination(name, d)
	}
	v.named()
	for i, p := range s.Produce {
		v.produce(fmt.Sprintf("produce[%d]", i), p)
	}
	for i, c := range s.Consume {
		v.consume(fmt.Sprintf("consume[%d]", i), c)
	}
	for _, step := range s.Timeline {
		v.step(step)
	}
	return v.first
}

type validation struct {
	spec  *Spec
	root  ast.Node
	first error
}

func (v *validation) fail(section, format string, args ...any) {
	if v.first == nil {
		v.first = &LineError{File: "workload", Line: v.line(section), Text: fmt.Sprintf(format, args...)}
	}
}

func (v *validation) line(section string) int {
	key, _, _ := strings.Cut(section, "[")
	key, _, _ = strings.Cut(key, ".")
	if n := lookup(v.root, key); n != nil {
		return line(n)
	}
	return 1
}

func (v *validation) oneOf(section, what, word string, choices ...string) {
	if word != "" && !slices.Contains(choices, word) {
		v.fail(section, "%s", suggest.Unknown(what, word, choices)+" (in "+section+")")
	}
}

// notInName keeps out of a name what means something to a shell, a path or a terminal.
func notInName(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_'
}

func (v *validation) header() {
	s := v.spec
	switch {
	case s.Name == "" || strings.ContainsFunc(s.Name, notInName) || len(s.Name) > 64:
		v.fail("name", "name wants a short kebab-case word, got %q", s.Name)
	case s.Version != 0 && s.Version != Version:
		v.fail("version", "version %d of the workload language is not known here; this is %d", s.Version, Version)
	case len(s.Topology) == 0 || len(s.Produce) == 0 || len(s.Consume) == 0:
		v.fail("name", "a workload wants topology, produce and consume")
	case len(s.Claimed()) == 0:
		v.fail("claims", "variant %q claims nothing; a run without a claim cannot be judged", s.Variant)
	}
	v.oneOf("fidelity", "fidelity", s.Fidelity, "virtual", "real")
	for _, need := range s.Needs {
		v.oneOf("needs", "capability", need, capabilityNames()...)
	}
}

func capabilityNames() []string {
	var all []string
	for c := range contract.AllCapabilities() {
		all = append(all, c.String())
	}
	return all
}

func (v *validation) destination(name string, d Destination) {
	where := "topology." + name
	for _, other := range []string{d.DeadLetter, d.RetryOf} {
		if other != "" {
			v.known(where, other)
		}
	}
	switch {
	case d.Partitions < 0 || d.Partitions > 1000:
		v.fail(where, "%s: partitions from 1 to 1000", where)
	case name == d.DeadLetter || name == d.RetryOf:
		v.fail(where, "%s: dead-letter and retry-of name another destination", where)
	case d.FanOut != nil && len(d.FanOut) == 0:
		v.fail(where, "%s: fan-out wants a queue or more; without it the destination is an ordinary one", where)
	case d.MaxDeliveries < -1:
		v.fail(where, "%s: max-deliveries counts from 1; -1 is unlimited", where)
	case len(d.FanOut) > 0 && (d.DeadLetter != "" || d.MaxDeliveries != 0):
		v.fail(where, "%s: an exchange keeps nothing, so it has no deliveries to limit", where)
	}
}

// named refuses names that mean something to a broker, a path or a terminal, and names for
// two things.
func (v *validation) named() {
	taken := map[string]bool{}
	take := func(section, what, name string) {
		switch {
		case name == "" || len(name) > 64 || strings.ContainsFunc(name, func(r rune) bool { return r != '.' && notInName(r) }):
			v.fail(section, "a %s is named by letters, digits, '-', '_' and '.', at most 64, not by %q", what, name)
		case taken[what+name]:
			v.fail(section, "there are two %ss named %q", what, name)
		}
		taken[what+name] = true
	}
	for name, d := range v.spec.Topology {
		take("topology", "destination", name)
		for _, queue := range d.FanOut {
			take("topology", "destination", queue)
		}
	}
	for _, c := range v.spec.Consume {
		take("consume", "group", c.Group)
	}
}

// stored are the destinations that can be read: all but exchanges, and their queues.
func (v *validation) stored() []string {
	var all []string
	for name, d := range v.spec.Topology {
		if len(d.FanOut) == 0 {
			all = append(all, name)
		}
		all = append(all, d.FanOut...)
	}
	return all
}

func (v *validation) known(section, name string) {
	if _, ok := v.spec.Topology[name]; !ok {
		v.fail(section, "%s", suggest.Unknown("destination", name, names(v.spec.Topology))+" (in "+section+")")
	}
}

func (v *validation) produce(where string, p Produce) {
	v.known(where, p.To)
	switch {
	case p.Count < 1 || p.Count > maxMessages/max(p.Producers, 1):
		v.fail(where, "%s: count from 1 to %d messages", where, maxMessages)
	case p.Keys < 0 || p.Keys > maxKeys || p.Retries < 0 || p.InFlight < 0 || p.Resends < 0 || p.Producers < 0 || p.Producers > maxWorkers:
		v.fail(where, "%s: keys, retries, in-flight, resends and producers are not negative, at most %d keys and %d producers", where, maxKeys, maxWorkers)
	}
	v.oneOf(where, "acks", p.Acks, "0", "1", "all")
	v.oneOf(where, "confirms", p.Confirms, "on", "off")
	v.oneOf(where, "on-error", p.OnError, "give-up", "resend", "believe")
}

func (v *validation) consume(where string, c Consume) {
	if !slices.Contains(v.stored(), c.From) {
		v.fail(where, "%s", suggest.Unknown("destination", c.From, v.stored())+" (in "+where+")")
	}
	switch {
	case c.Workers < 0 || c.Workers > maxWorkers || c.Batch < 0 || c.Batch > 100_000 || c.Prefetch < 0:
		v.fail(where, "%s: up to %d workers and batches of up to 100000", where, maxWorkers)
	case c.Settle.When == "":
		v.fail(where, "%s: settle.when is missing: before-handler, after-handler, after-batch, auto or never", where)
	case c.Settle.When == "auto" && c.Settle.Every == 0:
		v.fail(where, "%s: settle auto wants every: an interval", where)
	}
	v.oneOf(where, "settle.when", c.Settle.When, "before-handler", "after-handler", "after-batch", "auto", "never")
	v.oneOf(where, "settle.how", c.Settle.How, "sync", "async")
	v.oneOf(where, "run-in", c.RunIn, "task", "process")
	v.oneOf(where, "start", c.Start, "earliest", "latest")
	v.oneOf(where, "strategy", c.Strategy, "range", "roundrobin", "sticky", "cooperative-sticky")
	v.oneOf(where, "effect store", c.Effect.Store, "memory", "sqlite", "postgres")
	v.oneOf(where, "effect", c.Effect.Mode, "none", "plain", "upsert", "claim", "transactional")
	v.failure(where, c.OnFailure)
	for _, script := range c.Handler.Script {
		v.script(where, script)
	}
}

func (v *validation) failure(where string, f OnFailure) {
	v.oneOf(where, "on-failure.then", f.Then, "requeue", "reject", "retry", "expire", "republish", "dead-letter", "skip")
	if f.To != "" {
		v.known(where, f.To)
	}
	if f.To == "" && (f.Then == "republish" || f.Then == "dead-letter") {
		v.fail(where, "%s: on-failure %s wants to: a destination", where, f.Then)
	}
}

func (v *validation) script(where string, s Script) {
	v.oneOf(where, "handler script", s.Do, "fail", "panic", "hang", "delay")
	if s.ID == "" && s.Every < 1 || s.ID != "" && s.Every != 0 {
		v.fail(where, "%s: a script wants an id or every: n", where)
	}
	if s.ID != "" {
		v.id(where, s.ID)
	}
}

func (v *validation) id(where, text string) {
	if _, err := msg.ParseID(text); err != nil {
		v.fail(where, "%s: %v", where, err)
	}
}

func (v *validation) step(s Step) {
	t := s.Trigger
	v.oneOf("timeline", "point", t.Point, "received", "before-handler", "mid-batch", "after-effect", "after-settle", "assign", "revoke")
	v.oneOf("timeline", "state of a fault", t.State, "active", "healed")
	v.repeat(s)
	switch {
	case !t.Timed && t.Point == "" && t.Operation == "" && t.Fault == "":
		v.fail("timeline", "line %d: a step wants at: or after: with a time, or at: {point: ...}, {operation: ...} or {fault: ...}", s.Line)
	case t.Point != "" && t.Worker == "" && t.ID == "":
		v.fail("timeline", "line %d: a point wants a worker or an id", s.Line)
	case t.Operation == "" && t.By+t.To+t.Key != "":
		v.fail("timeline", "line %d: by, to and key want an operation", s.Line)
	case t.Fault == "" && t.State != "":
		v.fail("timeline", "line %d: state wants a fault", s.Line)
	case t.N < 0:
		v.fail("timeline", "line %d: n counts from 1", s.Line)
	}
	if t.ID != "" {
		v.id("timeline", t.ID)
	}
}

// repeat refuses a storm without an end, and a step that follows a storm of its own.
func (v *validation) repeat(s Step) {
	r := s.Repeat
	switch {
	case r == Repeat{}:
	case s.Trigger.Following:
		v.fail("timeline", "line %d: repeat stands at the first step; those after it are repeated with it", s.Line)
	case r.Times < 0 || r.Times == 0 && (r.Every == 0 || r.For == 0):
		v.fail("timeline", "line %d: repeat wants every: and for:, or times:", s.Line)
	case s.Trigger.Timed && r.Every == 0:
		v.fail("timeline", "line %d: repeat wants every: the time between two", s.Line)
	case r.Jitter < 0 || s.Trigger.Timed && r.Jitter > r.Every:
		v.fail("timeline", "line %d: jitter is at most every:, so that one comes after the other", s.Line)
	}
}
