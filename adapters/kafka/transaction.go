// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"fmt"

	"github.com/seed-720a3c77/harness/broker"
)

// Begin is not built yet, and the profile says so.
func (p *producer) Begin(context.Context) error {
	return fmt.Errorf("kafka: begin: %w", broker.ErrUnsupported)
}

// Commit is not built yet, and the profile says so.
func (p *producer) Commit(context.Context, ...broker.OffsetCommit) error {
	return fmt.Errorf("kafka: commit a transaction: %w", broker.ErrUnsupported)
}

// Abort is not built yet, and the profile says so.
func (p *producer) Abort(context.Context) error {
	return fmt.Errorf("kafka: abort: %w", broker.ErrUnsupported)
}
