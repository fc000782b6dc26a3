// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/contract"
)

// The handlers of this file are right as well, in styles that are less common.

// cachedOnce has a cache in front of the store, filled when the store has said yes.
func cachedOnce(e Env) Handler {
	var known sync.Map
	return func(ctx context.Context, m Message) error {
		if _, ok := known.Load(m.ID); ok {
			return nil
		}
		if err := once(ctx, e, m); err != nil {
			return err
		}
		known.Store(m.ID, true)
		return nil
	}
}

// concurrently works on all of a batch at once, and waits for all of it.
func concurrently(e Env) BatchHandler {
	return func(ctx context.Context, batch []Message) []error {
		errs := make([]error, len(batch))
		var all sync.WaitGroup
		for i, m := range batch {
			all.Go(func() { errs[i] = once(ctx, e, m) })
		}
		all.Wait()
		return errs
	}
}

// batchOrEach does all of a batch in one transaction, or else one after another.
func batchOrEach(e Env) BatchHandler {
	return func(ctx context.Context, batch []Message) []error {
		errs := wholeBatch(e)(ctx, batch)
		if errs[0] == nil {
			return nil
		}
		for i, m := range batch {
			errs[i] = once(ctx, e, m)
		}
		return errs
	}
}

// overChannel hands its work to a goroutine that lives as long as the process.
func overChannel(e Env) Handler {
	type job struct {
		ctx  context.Context
		m    Message
		done chan error
	}
	jobs := make(chan job)
	quit := make(chan struct{})
	go func() {
		for {
			select {
			case j := <-jobs:
				j.done <- once(j.ctx, e, j.m)
			case <-quit:
				return
			}
		}
	}()
	e.Cleanup(func() { close(quit) })
	return func(ctx context.Context, m Message) error {
		j := job{ctx, m, make(chan error, 1)}
		select {
		case jobs <- j:
		case <-ctx.Done():
			return ctx.Err()
		}
		select {
		case err := <-j.done:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// asksFirst cannot repeat a charge with a key, but can ask whether it was made.
func asksFirst(e Env) Handler {
	return func(ctx context.Context, m Message) error {
		done, err := e.Effects.Seen(ctx, m.ID)
		if err != nil || done {
			return err
		}
		var taken bool
		err = e.Effects.Transaction(ctx, func(tx *Tx) error {
			if taken = tx.Seen("charge " + m.ID); !taken {
				tx.Remember("charge "+m.ID, 0)
				tx.Apply(m.ID)
			}
			return nil
		})
		if err != nil {
			return err
		}
		return e.Effects.Remember(context.WithoutCancel(ctx), m.ID, 0)
	}
}

// compares writes a balance on condition that it is still the one that was read.
func compares(e Env) Handler {
	return func(ctx context.Context, m Message) error {
		for {
			old, err := e.Effects.Get(ctx, m.Key)
			if err != nil {
				return err
			}
			swapped := false
			err = e.Effects.Transaction(ctx, func(tx *Tx) error {
				if swapped = tx.Get(m.Key) == old; swapped && tx.Claim(m.ID, 0) != 0 {
					sum, _ := strconv.Atoi(old)
					tx.Set(m.Key, strconv.Itoa(sum+10))
				}
				return nil
			})
			if err != nil || swapped {
				return err
			}
		}
	}
}

// setOfIDs keeps what it did with the value itself, in any order.
func setOfIDs(e Env) Handler {
	return func(ctx context.Context, m Message) error {
		return e.Effects.Transaction(ctx, func(tx *Tx) error {
			done := map[string]bool{}
			if text := tx.Get(m.Key); text != "" {
				if err := json.Unmarshal([]byte(text), &done); err != nil {
					return err
				}
			}
			done[m.ID] = true
			text, err := json.Marshal(done)
			tx.Set(m.Key, string(text))
			return err
		})
	}
}

// outbox writes what is to be sent with its effect, and every handler sends what is left;
// the receiver knows its keys.
func outbox(e Env) Handler {
	client := e.HTTPClient()
	return func(ctx context.Context, m Message) error {
		err := e.Effects.Transaction(ctx, func(tx *Tx) error {
			if !tx.Seen(m.ID) {
				tx.Remember(m.ID, 0)
				tx.Remember("unsent "+m.ID, 0)
				tx.Apply(m.ID)
			}
			return nil
		})
		if err != nil {
			return err
		}
		unsent, err := e.Effects.Seen(ctx, "unsent "+m.ID)
		if err != nil || !unsent {
			return err
		}
		if err := charge(ctx, client, m, m.ID); err != nil {
			return err
		}
		return e.Effects.Forget(ctx, "unsent "+m.ID)
	}
}

// puts replaces a resource, which can be done twice.
func puts(e Env) Handler {
	client := e.HTTPClient()
	return func(ctx context.Context, m Message) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodPut, "http://shop.example/orders/"+m.ID, strings.NewReader("paid"))
		if err != nil {
			return err
		}
		answer, err := client.Do(r)
		if err != nil {
			return err
		}
		return answer.Body.Close()
	}
}

// chargesAndMails has two effects elsewhere, both with keys.
func chargesAndMails(e Env) Handler {
	client := e.HTTPClient()
	return func(ctx context.Context, m Message) error {
		return errors.Join(
			post(ctx, client, "http://payments.example/charges", m.ID+"/charge"),
			post(ctx, client, "http://mail.example/receipts", m.ID+"/receipt"))
	}
}

func post(ctx context.Context, client *http.Client, address, key string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Idempotency-Key", key)
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

// recovered returns what panicked as an error.
func recovered(e Env) Handler {
	return func(ctx context.Context, m Message) (err error) {
		defer func() {
			if value := recover(); value != nil {
				err = fmt.Errorf("recovered: %v", value)
			}
		}()
		return once(ctx, e, m)
	}
}

// impatient gives each attempt two seconds.
func impatient(e Env) Handler {
	return func(ctx context.Context, m Message) error {
		ctx, cancel := context.WithTimeoutCause(ctx, 2*time.Second, errors.New("too slow"))
		defer cancel()
		return once(ctx, e, m)
	}
}

// prepared has its statements prepared, and inserts where nothing is yet.
func prepared(e Env) Handler {
	db := orders(e)
	return func(ctx context.Context, m Message) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		insert, err := tx.PrepareContext(ctx, `INSERT INTO payments (event) SELECT ? WHERE NOT EXISTS (SELECT 1 FROM payments WHERE event = ?)`)
		if err != nil {
			return err
		}
		defer insert.Close()
		if _, err := insert.ExecContext(ctx, m.ID, m.ID); err != nil {
			return err
		}
		return tx.Commit()
	}
}

// TestStyles: however a handler is written, if it is right it passes.
func TestStyles(t *testing.T) {
	all := []Profile{Kafka, SQSStandard, SQSFIFO, RabbitMQQuorum, RabbitMQClassic}
	tests := []struct {
		name   string
		on     []Profile
		config *config
	}{
		{"cached once", all, single(cachedOnce)},
		{"concurrently", all, batched(concurrently)},
		{"batch or each", all, batched(batchOrEach)},
		{"over a channel", all, single(overChannel)},
		{"asks first", all, single(asksFirst)},
		{"compares", all, single(compares)},
		{"set of ids", all, single(setOfIDs)},
		{"outbox", all, single(outbox)},
		{"puts", all, single(puts)},
		{"charges and mails", all, single(chargesAndMails)},
		{"recovered", all, single(recovered)},
		{"impatient", all, single(impatient)},
		{"prepared", []Profile{Kafka, RabbitMQQuorum}, single(prepared, Setup(createTables), CountQuery(countPayments))},
		{"in order, in batches", []Profile{Kafka, SQSFIFO}, batched(batchOrEach, Claim(contract.EffectivelyOnce, contract.OrderPerKey))},
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
