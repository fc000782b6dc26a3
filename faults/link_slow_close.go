// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
	"time"
)

// LinkSlowClose makes the end of every connection between some clients and the broker
// late: one side has left, and the other does not know yet. By a proxy on real brokers;
// the model has no half-closed connections. It heals by ends passing at once.
func LinkSlowClose() Kind {
	k := linkKind("link-slow-close", "makes the end of connections between clients and broker late", func(decode func(any) error) (breaking, error) {
		var says struct {
			Late time.Duration `yaml:"late"`
		}
		if err := decode(&says); err != nil {
			return nil, err
		}
		if says.Late < time.Millisecond {
			return nil, errors.New("link-slow-close wants late: 1ms or more")
		}
		return func(ctx context.Context, link Link) (func(context.Context) error, error) {
			return link.SlowClose(ctx, says.Late)
		}, nil
	})
	k.Unable = needsBytes
	return k
}
