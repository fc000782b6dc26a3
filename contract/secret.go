// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"fmt"
	"io"
	"log/slog"
)

const redacted = "[redacted]"

// Secret is a password or key. It prints, logs and marshals as a placeholder; only Reveal
// returns what it holds. It is behind a pointer, because a formatter that walks into an
// unexported field asks no method.
type Secret struct{ value *string }

// NewSecret hides value.
func NewSecret(value string) Secret { return Secret{&value} }

// Reveal returns the secret itself, for the client library that needs it.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// IsZero tells whether there is no secret.
func (s Secret) IsZero() bool { return s.Reveal() == "" }

// String returns a placeholder, or nothing for the zero value.
func (s Secret) String() string {
	if s.IsZero() {
		return ""
	}
	return redacted
}

// Format writes the placeholder for every verb, %#v and %x included.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText makes encoders (JSON, YAML, XML) write the placeholder.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue makes structured logs write the placeholder.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
