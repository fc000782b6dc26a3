// SPDX-License-Identifier: Apache-2.0

package blackbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/internal/suggest"
)

// Options are what a user says, by flags or in a file. Defaults has the values of what is
// not said.
type Options struct {
	// On is the engine: kafka, sqs, sqs-fifo, rabbitmq, rabbitmq-classic.
	On string `yaml:"on"`
	// Command is the program and its arguments, with placeholders such as {queue}.
	Command []string `yaml:"command"`
	Workers int      `yaml:"workers"`
	// Env are variables of the program, NAME=value, with placeholders.
	Env []string `yaml:"env"`
	// Restarts is how often a worker that ends by itself is started again, in the whole run,
	// as a supervisor would; one more fails the run.
	Restarts int `yaml:"restarts"`

	Messages int `yaml:"messages"`
	// Rate is in messages a second.
	Rate float64 `yaml:"rate"`
	Keys int     `yaml:"keys"`
	// Body is a template of the message's body, IDPath where the id stands in it, and
	// IDHeader the header or attribute that carries it.
	Body       string `yaml:"body-template"`
	IDPath     string `yaml:"id-path"`
	IDHeader   string `yaml:"id-header"`
	KeepBodies bool   `yaml:"keep-bodies"`

	Partitions int           `yaml:"partitions"`
	Lease      time.Duration `yaml:"lease"`
	// Session is how long the program's own session or heartbeat timeout is, which the
	// harness cannot see; 0 takes the longest default of the usual clients.
	Session time.Duration `yaml:"session"`
	// MaxDeliveries moves a message to a dead-letter queue; 0 is never.
	MaxDeliveries int `yaml:"max-deliveries"`

	Claim contract.Claim `yaml:"claim"`
	// Effects says where the effects are: sqlite:FILE, postgres, hook, poll:URL, file:FILE, stdout.
	Effects string `yaml:"effects"`
	Query   string `yaml:"query"`
	// Look is how often they are looked at.
	Look time.Duration `yaml:"look"`

	// Kill, KillAll, Freeze, Stop, LoseAnswers and Duplicate are how often each happens, at
	// random instants; KillAll ends all workers at once.
	Kill      int           `yaml:"kill"`
	KillAll   int           `yaml:"kill-all"`
	Freeze    int           `yaml:"freeze"`
	FreezeFor time.Duration `yaml:"freeze-for"`
	Stop      int           `yaml:"stop"`
	// LoseAnswers drops what the broker answers a worker, for LoseFor.
	LoseAnswers int           `yaml:"lose-answers"`
	LoseFor     time.Duration `yaml:"lose-for"`
	Duplicate   int           `yaml:"duplicate"`
	// Faults are those at instants of their own.
	Faults       []Fault       `yaml:"faults"`
	RestartAfter time.Duration `yaml:"restart-after"`
	Seed         uint64        `yaml:"seed"`

	// Ready bounds the wait for the first sign of work, Patience a silence in the drain,
	// Grace the polite end of a worker.
	Ready    time.Duration `yaml:"ready"`
	Patience time.Duration `yaml:"patience"`
	Grace    time.Duration `yaml:"grace"`
}

// Fault is one fault at an instant after the load began.
type Fault struct {
	Do string        `yaml:"do"`
	At time.Duration `yaml:"at"`
	// Worker is its number; nothing is a random one.
	Worker *int `yaml:"worker"`
	// For is how long a freeze or a loss of answers lasts.
	For time.Duration `yaml:"for"`
}

// Defaults are the options of a run that says nothing else.
func Defaults() Options {
	return Options{
		Workers: 2, Messages: 200, Rate: 50, Keys: 10, IDHeader: "event-id", Body: defaultBody,
		Partitions: 4, Claim: contract.EffectivelyOnce, Look: 500 * time.Millisecond,
		Kill: 2, LoseFor: time.Second, Duplicate: 10, RestartAfter: 300 * time.Millisecond, Seed: 1,
		Ready: 30 * time.Second, Grace: 10 * time.Second,
	}
}

// Decode reads options from YAML, strictly, over what is there. The error has the line.
func (o *Options) Decode(text []byte) error {
	err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(o)
	var unknown *yaml.UnknownFieldError
	var wrong yaml.Error
	switch {
	case errors.As(err, &unknown):
		return fmt.Errorf("line %d: %s", unknown.Token.Position.Line, suggest.Unknown("key", unknown.Token.Value, keys()))
	case errors.As(err, &wrong):
		return fmt.Errorf("line %d: %s", wrong.GetToken().Position.Line, wrong.GetMessage())
	case errors.Is(err, io.EOF):
		return errors.New("there is nothing in it")
	}
	return err
}

// keys lists the words of a file.
func keys() []string {
	var all []string
	for _, of := range []reflect.Type{reflect.TypeFor[Options](), reflect.TypeFor[Fault]()} {
		for field := range of.Fields() {
			all = append(all, field.Tag.Get("yaml"))
		}
	}
	return all
}

// Check refuses options that make no sense, with the name of the option.
func (o *Options) Check() error {
	for _, refuse := range []func() error{o.checkProgram, o.checkLoad, o.checkEffects, o.checkFaults} {
		if err := refuse(); err != nil {
			return err
		}
	}
	return nil
}

func (o *Options) checkProgram() error {
	switch {
	case len(o.Command) == 0 || o.Command[0] == "":
		return errors.New("no command: give it behind --, as in harness verify --on kafka -- ./my-consumer")
	case o.Restarts < 0:
		return fmt.Errorf("restarts: %d is negative", o.Restarts)
	case o.Workers < 1 || o.Workers > maxWorkers:
		return fmt.Errorf("workers: %d is not between 1 and %d", o.Workers, maxWorkers)
	}
	for _, pair := range o.Env {
		if name, _, found := strings.Cut(pair, "="); !found || name == "" {
			return fmt.Errorf("env: %q is not NAME=value", pair)
		}
	}
	return nil
}

const (
	maxWorkers  = 100
	maxMessages = 1_000_000
)

func (o *Options) checkLoad() error {
	switch {
	case o.Messages < 1 || o.Messages > maxMessages:
		return fmt.Errorf("messages: %d is not between 1 and %d", o.Messages, maxMessages)
	case o.Rate <= 0:
		return fmt.Errorf("rate: %g is not positive", o.Rate)
	case o.Keys < 1:
		return fmt.Errorf("keys: %d is not positive", o.Keys)
	case o.Partitions < 1:
		return fmt.Errorf("partitions: %d is not positive", o.Partitions)
	case o.IDHeader == "" && o.IDPath == "":
		return errors.New("id-header: without one, id-path has to say where the id is in the body")
	case o.MaxDeliveries < 0:
		return fmt.Errorf("max-deliveries: %d is negative", o.MaxDeliveries)
	case o.Lease < 0, o.Session < 0, o.Look < 0, o.FreezeFor < 0, o.LoseFor < 0, o.RestartAfter < 0, o.Ready < 0, o.Patience < 0, o.Grace < 0:
		return errors.New("a duration is negative")
	case o.Claim != contract.AtLeastOnce && o.Claim != contract.EffectivelyOnce:
		return fmt.Errorf("claim: %q is not one of %s, %s", o.Claim, contract.AtLeastOnce, contract.EffectivelyOnce)
	}
	return nil
}

// The places where effects can be, before the colon of the option.
const (
	InSQLite   = "sqlite"
	InPostgres = "postgres"
	AtHook     = "hook"
	AtPoll     = "poll"
	InFile     = "file"
	InStdout   = "stdout"
)

// EffectsAt splits the option: the kind and what follows its colon.
func (o *Options) EffectsAt() (kind, rest string) {
	kind, rest, _ = strings.Cut(o.Effects, ":")
	return kind, rest
}

func (o *Options) checkEffects() error {
	kind, rest := o.EffectsAt()
	wantsRest, wantsQuery := false, false
	switch kind {
	case InSQLite:
		wantsRest, wantsQuery = true, true
	case InPostgres:
		wantsQuery = true
	case AtPoll, InFile:
		wantsRest = true
	case AtHook, InStdout:
	case "":
		return errors.New("effects: say where they are: sqlite:FILE, postgres, hook, poll:URL, file:FILE or stdout")
	default:
		return fmt.Errorf("effects: %q is not one of sqlite:FILE, postgres, hook, poll:URL, file:FILE, stdout", o.Effects)
	}
	at, err := url.Parse(rest)
	switch {
	case kind == AtPoll && (err != nil || at.User != nil):
		return errors.New("effects: poll: want an address without user and password, which would be kept in the results")
	case wantsRest && rest == "":
		return fmt.Errorf("effects: %s: of what? (%[1]s:...)", kind)
	case !wantsRest && rest != "":
		return fmt.Errorf("effects: %s takes nothing after a colon", kind)
	case wantsQuery && o.Query == "":
		return fmt.Errorf("query: effects in %s need one that gives id and count", kind)
	case !wantsQuery && o.Query != "":
		return fmt.Errorf("query: effects: %s has nothing to ask", kind)
	}
	return nil
}

func (o *Options) checkFaults() error {
	if min(o.Kill, o.KillAll, o.Freeze, o.Stop, o.LoseAnswers, o.Duplicate) < 0 {
		return errors.New("kill, kill-all, freeze, stop, lose-answers and duplicate are counts")
	}
	if o.Duplicate > o.Messages {
		return fmt.Errorf("duplicate: %d of %d messages", o.Duplicate, o.Messages)
	}
	for _, f := range o.Faults {
		switch {
		case !slices.Contains(doings(), f.Do):
			return fmt.Errorf("faults: do: %s", suggest.Unknown("fault", f.Do, doings()))
		case f.At < 0 || f.For < 0:
			return fmt.Errorf("faults: %s: a duration is negative", f.Do)
		case f.For > 0 && f.Do != doFreeze && f.Do != doLose:
			return fmt.Errorf("faults: %s: for is of a freeze or of lost answers", f.Do)
		case f.Worker != nil && f.Do == doKillAll:
			return errors.New("faults: kill-all: worker is of a fault that strikes one")
		case f.Worker != nil && (*f.Worker < 0 || *f.Worker >= o.Workers):
			return fmt.Errorf("faults: %s: worker %d of %d (they count from 0)", f.Do, *f.Worker, o.Workers)
		}
	}
	return nil
}
