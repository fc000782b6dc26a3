// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"context"
	"errors"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/contract"
)

// The handlers of this file are right, each in its own way.

var errBusy = errors.New("somebody else works on it")

// upserts writes the effect under the event's id.
func upserts(e Env) Handler {
	return func(ctx context.Context, m Message) error {
		return e.Effects.Transaction(ctx, func(tx *Tx) error {
			if !tx.Seen("row " + m.ID) {
				tx.Apply(m.ID)
			}
			tx.Remember("row "+m.ID, 0)
			return nil
		})
	}
}

// fenced works under a leased claim, and its effect checks that the claim still holds.
func fenced(e Env) Handler {
	return func(ctx context.Context, m Message) error {
		done, err := e.Effects.Seen(ctx, "done "+m.ID)
		if err != nil || done {
			return err
		}
		token, err := e.Effects.Claim(ctx, m.ID, time.Minute)
		if err != nil {
			return err
		}
		if token == 0 {
			return errBusy
		}
		time.Sleep(45 * time.Second) // the work
		return e.Effects.Transaction(ctx, func(tx *Tx) error {
			if !tx.Holds(m.ID, token) || tx.Seen("done "+m.ID) {
				return errBusy
			}
			tx.Apply(m.ID)
			tx.Remember("done "+m.ID, 0)
			return nil
		})
	}
}

// longMemory keeps its keys for longer than anything is redelivered.
func longMemory(e Env) Handler { return onceBy(byID, 30*24*time.Hour)(e) }

// chargesOnce gives its HTTP effect an idempotency key.
func chargesOnce(e Env) Handler {
	client := e.HTTPClient()
	return func(ctx context.Context, m Message) error {
		return charge(ctx, client, m, m.ID)
	}
}

// newestWins refuses a write that is older than what is there.
func newestWins(e Env) Handler {
	return func(ctx context.Context, m Message) error {
		return e.Effects.Transaction(ctx, func(tx *Tx) error {
			if m.ID > tx.Get(m.Key) {
				tx.Set(m.Key, m.ID)
			}
			return nil
		})
	}
}

// eachOfBatch reports every message of a batch for itself.
func eachOfBatch(e Env) BatchHandler {
	handle := onceBy(byID, 0)(e)
	return func(ctx context.Context, batch []Message) []error {
		errs := make([]error, len(batch))
		for i, m := range batch {
			errs[i] = handle(ctx, m)
		}
		return errs
	}
}

// carefully looks first to save work, and is protected by a transaction behind it; it
// retries what failed, within a time limit.
func carefully(e Env) Handler {
	handle := onceBy(byID, 0)(e)
	return func(ctx context.Context, m Message) error {
		seen, err := e.Effects.Seen(ctx, m.ID)
		if err != nil || seen {
			return err
		}
		for range 3 {
			limited, cancel := context.WithTimeout(ctx, 5*time.Second)
			err = handle(limited, m)
			cancel()
			if err == nil || ctx.Err() != nil {
				return err
			}
			time.Sleep(100 * time.Millisecond)
		}
		return err
	}
}

// schedules is how many a good handler has to survive, each with a seed of its own, on all
// its brokers together: CONSUMERTEST_GOOD for a long night.
func schedules(t *testing.T) int {
	text := os.Getenv("CONSUMERTEST_GOOD")
	if text == "" {
		if testing.Short() {
			return 75
		}
		return 300
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("CONSUMERTEST_GOOD is %q, want a number", text)
	}
	return n
}

// TestKnownGood: a handler without a mistake passes.
func TestKnownGood(t *testing.T) {
	all := []Profile{Kafka, SQSStandard, SQSFIFO, RabbitMQQuorum, RabbitMQClassic}
	ordered := []Profile{Kafka, SQSFIFO}
	tests := []struct {
		name   string
		on     []Profile
		config *config
	}{
		{"one transaction", all, single(onceBy(byID, 0))},
		{"one transaction in SQL", []Profile{Kafka, SQSStandard, RabbitMQQuorum}, single(sqlOnce, Setup(createTables), CountQuery(countPayments))},
		{"upserts", all, single(upserts)},
		{"fenced", all, single(fenced)},
		{"long memory", all, single(longMemory)},
		{"charges once", all, single(chargesOnce)},
		{"newest wins", all, single(newestWins)},
		{"each of a batch", all, batched(eachOfBatch)},
		{"carefully", all, single(carefully)},
		{"in order", ordered, single(onceBy(byID, 0), Claim(contract.EffectivelyOnce, contract.OrderPerKey))},
		{"at least once", all, single(plain, Claim(contract.AtLeastOnce))},
		{"at most once", all, single(claimFirst, Claim(contract.AtMostOnce))},
	}
	n := schedules(t)
	for _, test := range tests {
		for _, p := range test.on {
			t.Run(test.name+"/"+string(p), func(t *testing.T) {
				t.Parallel()
				if found, _ := hunt(t, test.config, p, n/len(test.on)); found != nil {
					t.Error(found.story(t.Name()))
				}
			})
		}
	}
}
