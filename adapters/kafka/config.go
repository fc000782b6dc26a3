// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/seed-720a3c77/harness/contract"
)

// Dial opens one connection, as (*net.Dialer).DialContext does.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// Config says where the broker is and how to get in. Only Addresses is needed.
type Config struct {
	// Addresses are host:port of one broker or more.
	Addresses []string
	// TLS is nil for plain text.
	TLS  *tls.Config
	SASL SASL
	// Profile replaces the one that is picked by the version that the broker reports. What
	// Open finds out about the broker is still put into it.
	Profile *contract.Profile
	// Dial opens every connection; nil is a plain dialer. Link faults go in here.
	Dial Dial
	// Timeout bounds every request that no specification bounds; 0 is ten seconds.
	Timeout time.Duration
}

// SASL is how a client proves who it is. The zero value is anonymous.
type SASL struct {
	User, Password string
	// Mechanism is PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512; "" with a user is PLAIN.
	Mechanism string
}

// String shows nothing that is secret.
func (s SASL) String() string {
	if s.User == "" {
		return "anonymous"
	}
	return "user and password by " + s.mechanism()
}

// Format writes String for every verb, %#v and %+v included.
func (s SASL) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText makes encoders and structured logs write String.
func (s SASL) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

func (s SASL) mechanism() string {
	if s.Mechanism == "" {
		return mechanismPlain
	}
	return s.Mechanism
}

const (
	mechanismPlain  = "PLAIN"
	mechanismSHA256 = "SCRAM-SHA-256"
	mechanismSHA512 = "SCRAM-SHA-512"
)

// checked returns the configuration with its defaults, or one clear line.
func (c Config) checked() (Config, error) {
	if len(c.Addresses) == 0 || slices.Contains(c.Addresses, "") {
		return c, errors.New("kafka: an address is wanted, such as 127.0.0.1:9092")
	}
	known := []string{mechanismPlain, mechanismSHA256, mechanismSHA512}
	if c.SASL.User != "" && !slices.Contains(known, c.SASL.mechanism()) {
		return c, fmt.Errorf("kafka: unknown SASL mechanism %q: want %s", c.SASL.Mechanism, strings.Join(known, ", "))
	}
	if c.SASL.User == "" && (c.SASL.Password != "" || c.SASL.Mechanism != "") {
		return c, errors.New("kafka: SASL needs a user beside a password or mechanism")
	}
	if c.Dial == nil {
		c.Dial = (&net.Dialer{}).DialContext
	}
	if c.Timeout <= 0 {
		c.Timeout = 10 * time.Second
	}
	return c, nil
}
