// SPDX-License-Identifier: Apache-2.0

package sqs

// Secret is a secret access key. The zero value is none. Whatever prints or encodes it shows a
// placeholder: the text is behind a pointer that no encoder and no verb of fmt follows.
type Secret struct{ text *string }

// NewSecret hides a text.
func NewSecret(text string) Secret { return Secret{&text} }

// String is a placeholder, or nothing where there is no secret.
func (s Secret) String() string {
	if s.text == nil {
		return ""
	}
	return "[redacted]"
}

// GoString is the same placeholder.
func (s Secret) GoString() string { return s.String() }

// MarshalText writes the placeholder.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

func (s Secret) reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}
