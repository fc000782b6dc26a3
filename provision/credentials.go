// SPDX-License-Identifier: Apache-2.0

package provision

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/seed-720a3c77/harness/contract"
)

// Credentials are what a client needs beside the address. The zero value is anonymous.
type Credentials struct {
	User      string          // SQS: access key id
	Password  contract.Secret // SQS: secret access key
	Mechanism string          // Kafka: PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512
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
func (c Credentials) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.String()) }

// MarshalText makes encoders write String.
func (c Credentials) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// LogValue makes structured logs write String.
func (c Credentials) LogValue() slog.Value { return slog.StringValue(c.String()) }
