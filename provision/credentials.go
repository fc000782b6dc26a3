// SPDX-License-Identifier: Apache-2.0

package provision

import (
	"fmt"
	"io"
	"log/slog"
)

const redacted = "[redacted]"

// Secret is a password or key. It prints, logs and marshals as a placeholder; only Reveal
// returns what it holds.
type Secret struct{ value string }

// NewSecret hides value.
func NewSecret(value string) Secret { return Secret{value} }

// Reveal returns the secret itself, for the client library that needs it.
func (s Secret) Reveal() string { return s.value }

// IsZero tells whether there is no secret.
func (s Secret) IsZero() bool { return s.value == "" }

// String returns a placeholder, or nothing for the zero value.
func (s Secret) String() string {
	if s.IsZero() {
		return ""
	}
	return redacted
}

// Format writes the placeholder for every verb, %#v and %x included.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, s.String()) }

// MarshalText makes encoders (JSON, YAML, XML) write the placeholder.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue makes structured logs write the placeholder.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// Credentials are what a client needs beside the address. The zero value is anonymous.
type Credentials struct {
	User      string // SQS: access key id
	Password  Secret // SQS: secret access key
	Mechanism string // Kafka: PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512
	TLS       TLS
}

// TLS names the files of a TLS set-up. The zero value is plain text.
type TLS struct {
	Enabled bool   // also set when a file is named
	CA      string // PEM file of the authorities to trust; empty: those of the system
	Cert    string // PEM file of the client's certificate; empty: none
	Key     string // PEM file of its key
}

// String says what kind of credentials these are, without any of them.
func (c Credentials) String() string {
	kind := "anonymous"
	if c.User != "" {
		kind = "user and password"
	}
	if c.Mechanism != "" {
		kind += " by " + c.Mechanism
	}
	if c.TLS.Enabled {
		kind += " over TLS"
	}
	return kind
}

// Format writes String for every verb.
func (c Credentials) Format(f fmt.State, _ rune) { io.WriteString(f, c.String()) }

// MarshalText makes encoders write String.
func (c Credentials) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// LogValue makes structured logs write String.
func (c Credentials) LogValue() slog.Value { return slog.StringValue(c.String()) }
