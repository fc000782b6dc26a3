// SPDX-License-Identifier: Apache-2.0

package faults

import "context"

// LinkBlackHole loses every byte between some clients and the broker, in one direction or
// both, without telling anybody: a firewall that drops. On every engine: by a proxy on
// real brokers, exact on virtual time. It heals by ending the connections, whose streams
// have a hole, so that the clients connect anew.
func LinkBlackHole() Kind {
	return linkKind("link-black-hole", "loses every byte between clients and broker, and tells nobody", func(decode func(any) error) (breaking, error) {
		way, err := onlyWay(decode)
		return func(ctx context.Context, link Link) (func(context.Context) error, error) {
			return link.Drop(ctx, way)
		}, err
	})
}
