// SPDX-License-Identifier: Apache-2.0

package faults

import "context"

// LinkReset ends every connection between some clients and the broker abruptly; what was
// on its way is lost, and the clients may connect again at once. On every engine: by a
// proxy on real brokers, exact on virtual time. There is nothing to heal.
func LinkReset() Kind {
	return linkKind("link-reset", "ends the connections between clients and broker abruptly; new ones are possible", func(decode func(any) error) (breaking, error) {
		return func(ctx context.Context, link Link) (func(context.Context) error, error) {
			return nil, link.Reset(ctx)
		}, decode(&struct{}{})
	})
}
