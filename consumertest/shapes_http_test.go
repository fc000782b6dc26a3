// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Handlers with effects over HTTP that are wrong.

// notifiesAfter writes its row once, and tells others afterwards, if it still can.
func notifiesAfter(e Env) Handler {
	client := e.HTTPClient()
	return func(ctx context.Context, m Message) error {
		won := false
		err := e.Effects.Transaction(ctx, func(tx *Tx) error {
			if won = tx.Claim(m.ID, 0) != 0; won {
				tx.Apply(m.ID)
			}
			return nil
		})
		if err != nil || !won {
			return err
		}
		return charge(ctx, client, m, m.ID)
	}
}

// notifiesBefore tells others first, without a key of theirs.
func notifiesBefore(e Env) Handler {
	client := e.HTTPClient()
	return func(ctx context.Context, m Message) error {
		seen, err := e.Effects.Seen(ctx, m.ID)
		if err != nil || seen {
			return err
		}
		if err := charge(ctx, client, m, ""); err != nil {
			return err
		}
		return once(ctx, e, m)
	}
}

// mailsAtLast notes the event before its second effect.
func mailsAtLast(e Env) Handler {
	client := e.HTTPClient()
	return func(ctx context.Context, m Message) error {
		seen, err := e.Effects.Seen(ctx, m.ID)
		if err != nil || seen {
			return err
		}
		if err := post(ctx, client, "http://payments.example/charges", m.ID+"/charge"); err != nil {
			return err
		}
		if err := e.Effects.Remember(ctx, m.ID, 0); err != nil {
			return err
		}
		return post(ctx, client, "http://mail.example/receipts", m.ID+"/receipt")
	}
}

// newAddressEachTime makes a resource with another name at each try.
func newAddressEachTime(e Env) Handler {
	client := e.HTTPClient()
	return func(ctx context.Context, m Message) error {
		name := strconv.FormatInt(time.Now().UnixNano(), 10)
		return post(ctx, client, "http://payments.example/charges/"+name, name)
	}
}

// newKeyEachTime has an idempotency key that is no use.
func newKeyEachTime(e Env) Handler {
	client := e.HTTPClient()
	n := 0
	return func(ctx context.Context, m Message) error {
		n++
		return charge(ctx, client, m, fmt.Sprintf("%s-%s-%d", m.ID, time.Now(), n))
	}
}

// deadLetters puts what fails into a place of its own, and does not look whether that worked.
func deadLetters(e Env) Handler {
	client := e.HTTPClient()
	return func(ctx context.Context, m Message) error {
		if err := once(ctx, e, m); err != nil {
			r, _ := http.NewRequestWithContext(ctx, http.MethodPost, "http://dlq.example/", nil)
			if answer, err := client.Do(r); err == nil {
				_ = answer.Body.Close()
			}
		}
		return nil
	}
}

func httpMistakes() []mistake {
	all := []Profile{Kafka, SQSStandard, SQSFIFO, RabbitMQQuorum, RabbitMQClassic}
	return []mistake{
		{"notifies after", all, single(notifiesAfter), claimBeforeWork()},
		{"notifies before", all, single(notifiesBefore), workBeforeClaim()},
		{"mails at last", all, single(mailsAtLast), claimBeforeWork()},
		{"new address each time", all, single(newAddressEachTime), noDeduplication()},
		{"new key each time", all, single(newKeyEachTime), noDeduplication()},
		{"dead letters", all, single(deadLetters), errorSwallowed()},
	}
}
