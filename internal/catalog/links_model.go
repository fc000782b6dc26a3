// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"github.com/seed-720a3c77/harness/faults"
	"github.com/seed-720a3c77/harness/inmem/drive"
)

// ModelLinks are the links of the in-memory engine's clients.
type ModelLinks struct {
	Engine  *drive.Engine
	Clients Clients
}

var _ faults.Link = (*drive.Link)(nil)

// Link finds the link of a target.
func (l ModelLinks) Link(target string) (faults.Link, error) {
	return l.Engine.Link(target, func(client string) bool { return l.Clients.Covers(target, client) }), nil
}
