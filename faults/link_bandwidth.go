// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
)

// LinkBandwidth lets only so many bytes a second through, on each connection between some
// clients and the broker. By a proxy on real brokers; the model has no bytes. It heals by
// letting all through.
func LinkBandwidth() Kind {
	k := linkKind("link-bandwidth", "narrows the connections between clients and broker", func(decode func(any) error) (breaking, error) {
		says := struct {
			Bytes int    `yaml:"bytes-per-second"`
			Way   string `yaml:"way,omitempty"`
		}{Way: BothWays}
		if err := decode(&says); err != nil {
			return nil, err
		}
		if says.Bytes < 1 {
			return nil, errors.New("link-bandwidth wants bytes-per-second: 1 or more")
		}
		return func(ctx context.Context, link Link) (func(context.Context) error, error) {
			return link.Limit(ctx, says.Way, says.Bytes)
		}, checkWay(says.Way)
	})
	k.Unable = needsBytes
	return k
}
