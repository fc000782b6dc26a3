// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/provision"
)

// passed is a connection as one process of the harness tells it to another. It holds the
// secrets that an Endpoint keeps to itself.
type passed struct {
	Engine    string             `json:"engine"`
	At        provision.Endpoint `json:"at"`
	User      string             `json:"user,omitempty"`
	Password  string             `json:"password,omitempty"`
	Mechanism string             `json:"mechanism,omitempty"`
	TLS       provision.TLS      `json:"tls"`
}

// Pass packs what OpenPassed needs to open the same engine in another process. The result
// holds credentials: it is for a pipe, never for a command line, a file or a log.
func Pass(engine string, at provision.Endpoint) (json.RawMessage, error) {
	c := at.Credentials
	return json.Marshal(passed{
		Engine: engine, At: at, User: c.User, Password: c.Password.Reveal(), Mechanism: c.Mechanism, TLS: c.TLS,
	})
}

// OpenPassed opens the engine that Pass packed.
func OpenPassed(ctx context.Context, packed json.RawMessage) (broker.Engine, error) {
	var p passed
	if err := json.Unmarshal(packed, &p); err != nil {
		return nil, fmt.Errorf("connection: %w", err)
	}
	found, err := Find(p.Engine)
	if err != nil {
		return nil, err
	}
	if found[0].Open == nil {
		return nil, fmt.Errorf("%s lives in one process", p.Engine)
	}
	p.At.Credentials = provision.Credentials{User: p.User, Password: contract.NewSecret(p.Password), Mechanism: p.Mechanism, TLS: p.TLS}
	return found[0].Open(ctx, p.At)
}
