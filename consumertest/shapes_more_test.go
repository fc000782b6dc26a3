// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"context"
	"slices"
	"time"

	"github.com/seed-720a3c77/harness/contract"
)

// unfencedLock looks, works and notes under a lock whose lease may end meanwhile.
func unfencedLock(e Env) Handler {
	return func(ctx context.Context, m Message) error {
		lock, err := e.Effects.Claim(ctx, "lock "+m.ID, 20*time.Second)
		if err != nil {
			return err
		}
		if lock == 0 {
			return errBusy
		}
		defer func() { _ = e.Effects.Forget(context.WithoutCancel(ctx), "lock "+m.ID) }()
		seen, err := e.Effects.Seen(ctx, m.ID)
		if err != nil || seen {
			return err
		}
		return e.Effects.Transaction(ctx, func(tx *Tx) error {
			tx.Apply(m.ID)
			tx.Remember(m.ID, 0)
			return nil
		})
	}
}

// triesForEver does not return before it has succeeded.
func triesForEver(e Env) Handler {
	return func(ctx context.Context, m Message) error {
		for once(ctx, e, m) != nil {
			time.Sleep(time.Second)
		}
		return nil
	}
}

// lastFirst works through its batches from behind.
func lastFirst(e Env) BatchHandler {
	return func(ctx context.Context, batch []Message) []error {
		errs := make([]error, len(batch))
		for i, m := range slices.Backward(batch) {
			errs[i] = once(ctx, e, m)
		}
		return errs
	}
}

// newerOnly skips what was sent before the newest event of its key.
func newerOnly(e Env) Handler {
	return func(ctx context.Context, m Message) error {
		newest, err := e.Effects.Get(ctx, "newest "+m.Key)
		if err != nil || m.ID <= newest {
			return err
		}
		return e.Effects.Transaction(ctx, func(tx *Tx) error {
			tx.Apply(m.ID)
			tx.Set("newest "+m.Key, max(m.ID, tx.Get("newest "+m.Key)))
			return nil
		})
	}
}

// sendsLater has what failed in a list in memory, and says that it is done.
func sendsLater(e Env) Handler {
	var again []Message
	return func(ctx context.Context, m Message) error {
		todo := append(again, m)
		again = nil
		for _, m := range todo {
			if once(ctx, e, m) != nil {
				again = append(again, m)
			}
		}
		return nil
	}
}

func moreMistakes() []mistake {
	all := []Profile{Kafka, SQSStandard, SQSFIFO, RabbitMQQuorum, RabbitMQClassic}
	inOrder := Claim(contract.EffectivelyOnce, contract.OrderPerKey)
	return []mistake{
		{"unfenced lock", all, single(unfencedLock), claimTooShort()},
		{"tries for ever", all, single(triesForEver), handlerHangs()},
		{"last first", []Profile{Kafka, SQSFIFO}, batched(lastFirst, inOrder), overtaken()},
		{"newer only", []Profile{SQSStandard, RabbitMQQuorum}, single(newerOnly), highWaterMark()},
		{"sends later", all, single(sendsLater), errorSwallowed()},
	}
}
