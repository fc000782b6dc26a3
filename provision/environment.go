// SPDX-License-Identifier: Apache-2.0

package provision

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/seed-720a3c77/harness/contract"
)

// environment reads the variables of one engine: HARNESS_KAFKA for the address,
// HARNESS_KAFKA_USER and so on for the rest.
type environment struct {
	engine string
	getenv func(string) string
}

// variable is the name of a variable; the address has no suffix.
func variable(engine, suffix string) string {
	name := "HARNESS_" + strings.ToUpper(engine)
	if suffix != "" {
		name += "_" + suffix
	}
	return name
}

func (e environment) get(suffix string) string { return e.getenv(variable(e.engine, suffix)) }

// credentials reads user, password and TLS files. A user named without a password is an
// error; no user is what the engine's own local set-up expects.
func (e environment) credentials() (Credentials, error) {
	password, err := e.secret("PASSWORD")
	if err != nil {
		return Credentials{}, err
	}
	c := Credentials{User: e.get("USER"), Password: password, Mechanism: e.get("SASL_MECHANISM")}
	if (c.User == "") != c.Password.IsZero() {
		return Credentials{}, fmt.Errorf("%s and %s must be set together", variable(e.engine, "USER"), variable(e.engine, "PASSWORD"))
	}
	if c.TLS, err = e.tls(); err != nil {
		return Credentials{}, err
	}
	if err := e.checkMechanism(&c); err != nil {
		return Credentials{}, err
	}
	if c.User == "" {
		c.User, c.Password = localAccount(e.engine)
	}
	return c, nil
}

// localAccount is what a fresh RabbitMQ and LocalStack accept from loopback.
// https://www.rabbitmq.com/docs/access-control#default-state
func localAccount(engine string) (user string, password contract.Secret) {
	switch engine {
	case RabbitMQ:
		return "guest", contract.NewSecret("guest")
	case SQS:
		return "test", contract.NewSecret("test")
	}
	return "", contract.Secret{}
}

// secret reads a value, or the first line of the file that its _FILE variable names.
func (e environment) secret(suffix string) (contract.Secret, error) {
	value, path := e.get(suffix), e.get(suffix+"_FILE")
	if path == "" {
		return contract.NewSecret(value), nil
	}
	if value != "" {
		return contract.Secret{}, fmt.Errorf("%s and %[1]s_FILE are both set", variable(e.engine, suffix))
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return contract.Secret{}, fmt.Errorf("%s_FILE: %w", variable(e.engine, suffix), err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	if line = strings.TrimSuffix(line, "\r"); line == "" {
		return contract.Secret{}, fmt.Errorf("%s_FILE: %s is empty", variable(e.engine, suffix), path)
	}
	return contract.NewSecret(line), nil
}

func (e environment) tls() (TLS, error) {
	t := TLS{CA: e.get("TLS_CA"), Cert: e.get("TLS_CERT"), Key: e.get("TLS_KEY")}
	t.Enabled = e.get("TLS") == "1" || t.CA != "" || t.Cert != "" || t.Key != ""
	if (t.Cert == "") != (t.Key == "") {
		return TLS{}, fmt.Errorf("%s and %s must be set together", variable(e.engine, "TLS_CERT"), variable(e.engine, "TLS_KEY"))
	}
	for suffix, path := range map[string]string{"TLS_CA": t.CA, "TLS_CERT": t.Cert, "TLS_KEY": t.Key} {
		if path == "" {
			continue
		}
		if _, err := os.Stat(path); err != nil {
			return TLS{}, fmt.Errorf("%s: %w", variable(e.engine, suffix), err)
		}
	}
	return t, nil
}

// checkMechanism completes and checks the SASL mechanism, which only Kafka has.
func (e environment) checkMechanism(c *Credentials) error {
	if e.engine != Kafka || c.User == "" {
		if c.Mechanism != "" {
			return fmt.Errorf("%s is set without a user of kafka", variable(e.engine, "SASL_MECHANISM"))
		}
		return nil
	}
	if c.Mechanism == "" {
		c.Mechanism = "PLAIN"
	}
	known := []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"}
	if !slices.Contains(known, c.Mechanism) {
		return fmt.Errorf("%s is %q (one of %s)", variable(e.engine, "SASL_MECHANISM"), c.Mechanism, strings.Join(known, ", "))
	}
	return nil
}

// settings reads facts about the broker that nobody can ask it for: key=value,key=value.
func (e environment) settings() (map[string]string, error) {
	text := e.get("SETTINGS")
	if text == "" {
		return nil, nil
	}
	settings := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		key, value, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if !ok || key == "" {
			return nil, fmt.Errorf("%s: %q is not key=value", variable(e.engine, "SETTINGS"), pair)
		}
		settings[key] = value
	}
	return settings, nil
}

// Environment returns the variables from which External makes this endpoint again, in
// another process: NAME=value, credentials left out.
func (e Endpoint) Environment() []string {
	lines := []string{variable(e.Engine, "") + "=" + e.Address}
	add := func(suffix, value string) {
		if value != "" {
			lines = append(lines, variable(e.Engine, suffix)+"="+value)
		}
	}
	add("ADMIN", e.Admin)
	add("VERSION", e.Version)
	var settings []string
	for _, key := range slices.Sorted(maps.Keys(e.Settings)) {
		settings = append(settings, key+"="+e.Settings[key])
	}
	add("SETTINGS", strings.Join(settings, ","))
	return lines
}

// read makes the endpoint that the variables describe, without looking whether it answers.
func (e environment) read(address string) (Endpoint, error) {
	credentials, credentialsErr := e.credentials()
	settings, settingsErr := e.settings()
	if err := errors.Join(credentialsErr, settingsErr); err != nil {
		return Endpoint{}, err
	}
	return Endpoint{
		Engine: e.engine, Provider: externalName, Address: address,
		Admin: e.get("ADMIN"), Version: e.get("VERSION"),
		Settings: settings, Credentials: credentials,
	}, nil
}
