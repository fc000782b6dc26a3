// SPDX-License-Identifier: Apache-2.0

package faults

import "context"

// LinkCut ends every connection between some clients and the broker, and refuses new
// ones. On every engine: by a proxy on real brokers, exact on virtual time. It heals by
// accepting connections again.
func LinkCut() Kind {
	return linkKind("link-cut", "ends the connections between clients and broker, and refuses new ones", func(decode func(any) error) (breaking, error) {
		return func(ctx context.Context, link Link) (func(context.Context) error, error) {
			return link.Cut(ctx)
		}, decode(&struct{}{})
	})
}
