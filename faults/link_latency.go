// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
	"time"
)

// LinkLatency makes every byte between some clients and the broker late, give or take a
// jitter. On every engine: by a proxy on real brokers, exact on virtual time. It heals by
// bytes passing at once.
func LinkLatency() Kind {
	return linkKind("link-latency", "makes everything between clients and broker late", func(decode func(any) error) (breaking, error) {
		says := struct {
			Latency time.Duration `yaml:"latency"`
			Jitter  time.Duration `yaml:"jitter,omitempty"`
			Way     string        `yaml:"way,omitempty"`
		}{Way: BothWays}
		if err := decode(&says); err != nil {
			return nil, err
		}
		if says.Latency < time.Millisecond || says.Jitter < 0 || says.Jitter > says.Latency {
			return nil, errors.New("link-latency wants latency: 1ms or more, and a jitter that is not larger")
		}
		return func(ctx context.Context, link Link) (func(context.Context) error, error) {
			return link.Delay(ctx, says.Way, says.Latency, says.Jitter)
		}, checkWay(says.Way)
	})
}
