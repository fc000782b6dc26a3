// SPDX-License-Identifier: Apache-2.0

package faults

import "context"

// LinkHold keeps every byte between some clients and the broker: none is lost, and the
// connections live on, unless one side gives up waiting. It is a network that stalls. On
// every engine: by a proxy on real brokers, both ways and exact on virtual time. It heals
// by letting everything go, in its order.
func LinkHold() Kind {
	k := linkKind("link-hold", "keeps every byte between clients and broker; none is lost", func(decode func(any) error) (breaking, error) {
		way, err := onlyWay(decode)
		return func(ctx context.Context, link Link) (func(context.Context) error, error) {
			return link.Hold(ctx, way)
		}, err
	})
	k.NeedsEnd = true
	return k
}

// onlyWay decodes a step that says nothing but a way.
func onlyWay(decode func(any) error) (string, error) {
	says := struct {
		Way string `yaml:"way,omitempty"`
	}{Way: BothWays}
	if err := decode(&says); err != nil {
		return "", err
	}
	return says.Way, checkWay(says.Way)
}
