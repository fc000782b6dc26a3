// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"fmt"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
)

func unsupported(what string) error { return fmt.Errorf("%s: %w", what, broker.ErrUnsupported) }

func notFound(name string) error { return fmt.Errorf("%s: %w", name, broker.ErrNotFound) }

// refused is a definite no of the broker: nothing was applied.
func refused(op, code string, cause error) error {
	return &broker.Error{Op: op, Answer: contract.Refused, Class: contract.Rejected, Code: code, Err: cause}
}

// closed is the answer of a session that is over, told by the client itself: nothing was sent.
func closed(op, code string) error {
	return &broker.Error{Op: op, Answer: contract.Closed, Class: contract.Rejected, Code: code, Err: broker.ErrClosed}
}

// errUnproven is the answer to a publish that nobody will ever confirm.
var errUnproven error = &broker.Error{Op: "publish", Answer: contract.None, Class: contract.AcceptedOnly}
