// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"context"
)

// Batches whose failure is reported in the wrong way.

// abandonsBatch returns at the first failure; the entries behind it say nothing.
func abandonsBatch(e Env) BatchHandler {
	return func(ctx context.Context, batch []Message) []error {
		errs := make([]error, len(batch))
		for i, m := range batch {
			if errs[i] = once(ctx, e, m); errs[i] != nil {
				break
			}
		}
		return errs
	}
}

// wholeBatch does all of a batch in one transaction, or nothing of it.
func wholeBatch(e Env) BatchHandler {
	return func(ctx context.Context, batch []Message) []error {
		err := e.Effects.Transaction(ctx, func(tx *Tx) error {
			for _, m := range batch {
				if tx.Claim(m.ID, 0) != 0 {
					tx.Apply(m.ID)
				}
			}
			return nil
		})
		errs := make([]error, len(batch))
		for i := range errs {
			errs[i] = err
		}
		return errs
	}
}

// blamesLast reports a failure of the batch at its last entry.
func blamesLast(e Env) BatchHandler {
	return func(ctx context.Context, batch []Message) []error {
		errs := make([]error, len(batch))
		for _, m := range batch {
			if err := once(ctx, e, m); err != nil {
				errs[len(errs)-1] = err
			}
		}
		return errs
	}
}

func batchMistakes() []mistake {
	all := []Profile{Kafka, SQSStandard, SQSFIFO, RabbitMQQuorum, RabbitMQClassic}
	return []mistake{
		{"abandons batch", all, batched(abandonsBatch), wrongEntry()},
		{"whole batch", []Profile{Kafka, RabbitMQQuorum, RabbitMQClassic}, batched(wholeBatch), poisonedBatch()},
		{"blames last", all, batched(blamesLast), wrongEntry()},
	}
}
