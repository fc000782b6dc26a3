// SPDX-License-Identifier: Apache-2.0

package provision

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/seed-720a3c77/harness/provision/probe"
)

const (
	externalName = "external"
	// connectPatience bounds one TCP connect to an external broker.
	connectPatience = 5 * time.Second
)

// External hands out brokers that somebody else runs. It starts and stops nothing.
//
// Addresses come from flags or from HARNESS_KAFKA, HARNESS_SQS and HARNESS_RABBITMQ; what
// goes with them from variables of the same stem, ENGINE being one of those three:
//
//	HARNESS_ENGINE_USER, _PASSWORD or _PASSWORD_FILE   account (SQS: access key id and secret)
//	HARNESS_KAFKA_SASL_MECHANISM                       PLAIN (default), SCRAM-SHA-256, SCRAM-SHA-512
//	HARNESS_ENGINE_TLS=1, _TLS_CA, _TLS_CERT, _TLS_KEY TLS, with PEM files
//	HARNESS_RABBITMQ_ADMIN                             URL of the management API
//	HARNESS_ENGINE_VERSION                             if the broker does not say it
//	HARNESS_ENGINE_SETTINGS                            facts, as key=value,key=value
//
// There is no other way to give a password. The zero value reads the environment only.
type External struct {
	Addresses   map[string]string   // by engine, from flags; they win over the environment
	AllowRemote bool                // accept addresses that are not loopback
	Getenv      func(string) string // os.Getenv if nil

	resolver resolver // net.DefaultResolver if nil
}

var _ Provider = (*External)(nil)

// Name returns "external".
func (*External) Name() string { return externalName }

// Up returns the endpoint that was configured if it answers. ErrUnavailable means that
// nothing was configured, ErrAddress that the address is not one to use.
func (x *External) Up(ctx context.Context, engine string) (Endpoint, error) {
	env := x.environment(engine)
	address := x.address(env)
	if address == "" {
		return Endpoint{}, &Unavailable{Provider: externalName, Engine: engine, Why: "no address is given",
			Help: "set " + variable(engine, "")}
	}
	pairs, err := hostPorts(engine, address)
	if err != nil {
		return Endpoint{}, err
	}
	e, err := env.read(address)
	if err != nil {
		return Endpoint{}, fmt.Errorf("external %s: %w", engine, err)
	}
	if err := x.allow(ctx, pairs); err != nil {
		return Endpoint{}, err
	}
	if err := connectAny(ctx, pairs); err != nil {
		return Endpoint{}, fmt.Errorf("external %s at %s: %w", engine, address, err)
	}
	return identified(ctx, e)
}

// Down does nothing: External stops no broker that it did not start.
func (*External) Down(context.Context, string) error { return nil }

// Status returns what is configured, whether it answers or not. An address that cannot be
// used has an entry without it and is told in the error.
func (x *External) Status(context.Context) ([]Endpoint, error) {
	var configured []Endpoint
	var bad []error
	for _, engine := range Engines() {
		env := x.environment(engine)
		address := x.address(env)
		if address == "" {
			continue
		}
		_, err := hostPorts(engine, address)
		e, readErr := env.read(address)
		if err = errors.Join(err, readErr); err != nil {
			bad = append(bad, err)
			e = Endpoint{Engine: engine, Provider: externalName}
		}
		configured = append(configured, e)
	}
	return configured, errors.Join(bad...)
}

func (x *External) environment(engine string) environment {
	getenv := x.Getenv
	if getenv == nil {
		getenv = os.Getenv
	}
	return environment{engine, getenv}
}

func (x *External) address(env environment) string {
	if address := x.Addresses[env.engine]; address != "" {
		return address
	}
	return env.get("")
}

func (x *External) allow(ctx context.Context, pairs []string) error {
	if x.AllowRemote {
		return nil
	}
	var r resolver = net.DefaultResolver
	if x.resolver != nil {
		r = x.resolver
	}
	for _, pair := range pairs {
		if err := checkLoopback(ctx, r, pair); err != nil {
			return err
		}
	}
	return nil
}

// connectAny wants one of the addresses to accept a connection, and else says what became
// of each.
func connectAny(ctx context.Context, pairs []string) error {
	var failed []error
	for _, pair := range pairs {
		try, cancel := context.WithTimeout(ctx, connectPatience)
		err := probe.TCP(try, pair)
		cancel()
		if err == nil {
			return nil
		}
		failed = append(failed, err)
	}
	return fmt.Errorf("no answer; tried a TCP connect to each address for %s: %w", connectPatience, errors.Join(failed...))
}

// identified adds the version where the broker tells it to a stranger in plain text.
func identified(ctx context.Context, e Endpoint) (Endpoint, error) {
	if e.Credentials.TLS.Enabled || e.Version != "" {
		return e, nil
	}
	switch e.Engine {
	case RabbitMQ:
		version, err := probe.RabbitMQ(ctx, e.Address)
		if err != nil {
			return Endpoint{}, fmt.Errorf("external rabbitmq at %s: %w", e.Address, err)
		}
		e.Version = version
	case SQS:
		if version, err := probe.LocalStack(ctx, e.Address); err == nil { // others have no such page
			e.Version = "localstack-" + version
		}
	}
	return e, nil
}
