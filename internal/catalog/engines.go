// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract/profiles"
	"github.com/seed-720a3c77/harness/internal/suggest"
	"github.com/seed-720a3c77/harness/provision"
)

// InMemory is the prefix of the in-memory engine's names: inmem:PROFILE.
const InMemory = "inmem:"

// ErrEngine is returned for a name that is no engine.
var ErrEngine = errors.New("no such engine")

// Engine is one column of the matrix.
type Engine struct {
	// Name is what --on takes.
	Name string
	Doc  string
	// Broker is what has to be provided; "" for the in-memory engine.
	Broker string
	// Profile of the in-memory engine, or the one a real engine most likely has, so that
	// a plan can be tried before a broker is started.
	Profile string
	// Open connects to a real broker; nil for the in-memory engine.
	Open func(ctx context.Context, at provision.Endpoint) (broker.Engine, error)
}

// real lists the engines that are brokers of their own.
func real() []Engine {
	return []Engine{
		{"kafka", "Apache Kafka through IBM/sarama", provision.Kafka, "kafka", openKafka},
		{"sqs", "SQS standard queues through aws-sdk-go-v2", provision.SQS, "localstack", openSQS("standard")},
		{"sqs-fifo", "SQS FIFO queues through aws-sdk-go-v2", provision.SQS, "localstack-fifo", openSQS("fifo")},
		{"rabbitmq", "RabbitMQ quorum queues through amqp091-go", provision.RabbitMQ, "rabbitmq-quorum", openRabbitMQ("quorum")},
		{"rabbitmq-classic", "RabbitMQ classic queues through amqp091-go", provision.RabbitMQ, "rabbitmq-classic", openRabbitMQ("classic")},
	}
}

// Engines lists every engine: the real ones, then the in-memory profiles.
func Engines() []Engine {
	all := real()
	for _, p := range profiles.All() {
		all = append(all, Engine{
			Name: InMemory + p.Name, Profile: p.Name,
			Doc: fmt.Sprintf("in-memory %s %s, %s, as seen through %s", p.Product, p.Version, p.Configuration, p.Client),
		})
	}
	return all
}

// DefaultOn is what runs when nothing is asked for: three unlike brokers in memory.
const DefaultOn = "inmem:kafka,inmem:sqs,inmem:rabbitmq"

// Find resolves a name as --on takes it; "inmem" alone is the three default profiles.
// The error wraps ErrEngine and names the nearest right word.
func Find(name string) ([]Engine, error) {
	if name == strings.TrimSuffix(InMemory, ":") {
		return FindAll(DefaultOn)
	}
	if short, ok := strings.CutPrefix(name, InMemory); ok {
		return findInMemory(name, short)
	}
	all := real()
	if i := slices.IndexFunc(all, func(e Engine) bool { return e.Name == name }); i >= 0 {
		return all[i : i+1], nil
	}
	return nil, fmt.Errorf("%w: %s", ErrEngine, suggest.Unknown("engine", name, engineNames()))
}

func findInMemory(name, short string) ([]Engine, error) {
	p, err := profiles.Named(short)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", ErrEngine, suggest.Unknown("engine", name, engineNames()))
	}
	return []Engine{{Name: name, Profile: p.Name, Doc: "in-memory " + p.Name}}, nil
}

// FindAll resolves a comma-separated list, without repeating an engine.
func FindAll(list string) ([]Engine, error) {
	var all []Engine
	for name := range strings.SplitSeq(list, ",") {
		found, err := Find(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		for _, e := range found {
			if !slices.ContainsFunc(all, func(other Engine) bool { return other.Name == e.Name }) {
				all = append(all, e)
			}
		}
	}
	return all, nil
}

func engineNames() []string {
	var names []string
	for _, e := range Engines() {
		names = append(names, e.Name)
	}
	for _, a := range profiles.Aliases() {
		names = append(names, InMemory+a.Short)
	}
	return names
}
