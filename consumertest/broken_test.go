// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"testing"
	"time"
)

// The handlers of this file are wrong, each in one way.

// plain does the work each time.
func plain(e Env) Handler {
	return func(ctx context.Context, m Message) error {
		return e.Effects.Apply(ctx, m.ID)
	}
}

// lookFirst looks, and then works and notes in one transaction that does not look again.
func lookFirst(e Env) Handler {
	return func(ctx context.Context, m Message) error {
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

// claimFirst claims for ever and takes a claimed event for done.
func claimFirst(e Env) Handler {
	return func(ctx context.Context, m Message) error {
		token, err := e.Effects.Claim(ctx, m.ID, 0)
		if err != nil || token == 0 {
			return err
		}
		return e.Effects.Apply(ctx, m.ID)
	}
}

// claimReleased gives its claim back when the work has failed, but cannot when it dies.
func claimReleased(e Env) Handler {
	return func(ctx context.Context, m Message) error {
		token, err := e.Effects.Claim(ctx, m.ID, 0)
		if err != nil || token == 0 {
			return err
		}
		err = e.Effects.Transaction(ctx, func(tx *Tx) error {
			tx.Apply(m.ID)
			tx.Remember("done "+m.ID, 0)
			return nil
		})
		if err == nil {
			return nil
		}
		return errors.Join(err, e.Effects.Transaction(context.WithoutCancel(ctx), func(tx *Tx) error {
			if !tx.Seen("done " + m.ID) {
				tx.Forget(m.ID)
			}
			return nil
		}))
	}
}

// noteAfter notes after the work.
func noteAfter(e Env) Handler {
	return func(ctx context.Context, m Message) error {
		seen, err := e.Effects.Seen(ctx, m.ID)
		if err != nil || seen {
			return err
		}
		if err := e.Effects.Apply(ctx, m.ID); err != nil {
			return err
		}
		return e.Effects.Remember(ctx, m.ID, 0)
	}
}

// onceBy is right but for its key, and how long it is kept.
func onceBy(key func(Message) string, ttl time.Duration) func(Env) Handler {
	return func(e Env) Handler {
		return func(ctx context.Context, m Message) error {
			return e.Effects.Transaction(ctx, func(tx *Tx) error {
				if tx.Claim(key(m), ttl) != 0 {
					tx.Apply(m.ID)
				}
				return nil
			})
		}
	}
}

func byID(m Message) string       { return m.ID }
func byBrokerID(m Message) string { return m.BrokerID }

// byFlag believes that what is not flagged as redelivered is new.
func byFlag(e Env) Handler {
	return func(ctx context.Context, m Message) error {
		return e.Effects.Transaction(ctx, func(tx *Tx) error {
			if !m.Redelivered || !tx.Seen(m.ID) {
				tx.Apply(m.ID)
				tx.Remember(m.ID, 0)
			}
			return nil
		})
	}
}

// inMemory remembers in the process.
func inMemory(e Env) Handler {
	seen := map[string]bool{}
	return func(ctx context.Context, m Message) error {
		if seen[m.ID] {
			return nil
		}
		err := e.Effects.Apply(ctx, m.ID)
		seen[m.ID] = err == nil
		return err
	}
}

// swallows settles what failed.
func swallows(e Env) Handler {
	handle := onceBy(byID, 0)(e)
	return func(ctx context.Context, m Message) error {
		_ = handle(ctx, m)
		return nil
	}
}

// goesOn returns before the work is done.
func goesOn(e Env) Handler {
	handle := onceBy(byID, 0)(e)
	return func(ctx context.Context, m Message) error {
		go func() {
			for handle(context.WithoutCancel(ctx), m) != nil {
				time.Sleep(time.Second)
			}
		}()
		return nil
	}
}

// shortClaim waits for the claims of others, but its own may end before its work does.
func shortClaim(e Env) Handler {
	return func(ctx context.Context, m Message) error {
		done, token := false, uint64(0)
		err := e.Effects.Transaction(ctx, func(tx *Tx) error {
			if done = tx.Seen("done " + m.ID); !done {
				token = tx.Claim(m.ID, 15*time.Second)
			}
			return nil
		})
		if err != nil || done {
			return err
		}
		if token == 0 {
			return errBusy
		}
		return e.Effects.Transaction(ctx, func(tx *Tx) error {
			tx.Apply(m.ID)
			tx.Remember("done "+m.ID, 0)
			return nil
		})
	}
}

// busyIsDone has leased claims, and settles what another one has claimed.
func busyIsDone(e Env) Handler {
	return func(ctx context.Context, m Message) error {
		token, err := e.Effects.Claim(ctx, m.ID, 20*time.Second)
		if err != nil || token == 0 {
			return err
		}
		err = e.Effects.Transaction(ctx, func(tx *Tx) error {
			if tx.Holds(m.ID, token) && !tx.Seen("done "+m.ID) {
				tx.Apply(m.ID)
				tx.Remember("done "+m.ID, 0)
				tx.Remember(m.ID, 0)
			}
			return nil
		})
		if err != nil {
			return errors.Join(err, e.Effects.Forget(context.WithoutCancel(ctx), m.ID))
		}
		return nil
	}
}

// highestOnly takes everything up to the highest event of a key for done.
func highestOnly(e Env) Handler {
	return func(ctx context.Context, m Message) error {
		return e.Effects.Transaction(ctx, func(tx *Tx) error {
			if m.ID > tx.Get(m.Key) {
				tx.Set(m.Key, m.ID)
				tx.Apply(m.ID)
			}
			return nil
		})
	}
}

// retriesBlindly repeats an effect whose answer it did not get.
func retriesBlindly(e Env) Handler {
	return func(ctx context.Context, m Message) error {
		seen, err := e.Effects.Seen(ctx, m.ID)
		if err != nil || seen {
			return err
		}
		work := func() error {
			return e.Effects.Transaction(ctx, func(tx *Tx) error {
				tx.Apply(m.ID)
				tx.Remember(m.ID, 0)
				return nil
			})
		}
		if work() == nil {
			return nil
		}
		return work()
	}
}

// lastWins keeps the latest event of a customer, whichever comes last.
func lastWins(e Env) Handler {
	return func(ctx context.Context, m Message) error {
		return e.Effects.Set(ctx, m.Key, m.ID)
	}
}

// noGarbage trusts every body.
func noGarbage(e Env) Handler {
	handle := onceBy(byID, 0)(e)
	return func(ctx context.Context, m Message) error {
		var order struct{ Amount *int }
		_ = json.Unmarshal(m.Body, &order)
		if *order.Amount <= 0 {
			return nil
		}
		return handle(ctx, m)
	}
}

// hangs waits for the answer of a failed operation that never comes.
func hangs(e Env) Handler {
	handle := onceBy(byID, 0)(e)
	return func(ctx context.Context, m Message) error {
		if err := handle(ctx, m); err != nil {
			select {}
		}
		return nil
	}
}

// chargesFirst has an HTTP effect without an idempotency key before its own note.
func chargesFirst(e Env) Handler {
	client := e.HTTPClient()
	return func(ctx context.Context, m Message) error {
		seen, err := e.Effects.Seen(ctx, m.ID)
		if err != nil || seen {
			return err
		}
		if err := charge(ctx, client, m, ""); err != nil {
			return err
		}
		return e.Effects.Remember(ctx, m.ID, 0)
	}
}

func charge(ctx context.Context, client *http.Client, m Message, key string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://payments.example/charges", nil)
	if err != nil {
		return err
	}
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

// allOrNothing fails a whole batch for one message, and is not safe to repeat.
func allOrNothing(e Env) BatchHandler {
	return func(ctx context.Context, batch []Message) []error {
		errs := make([]error, len(batch))
		for i, m := range batch {
			if err := e.Effects.Apply(ctx, m.ID); err != nil {
				for j := range errs {
					errs[j] = err
				}
				return errs
			}
			errs[i] = nil
		}
		return errs
	}
}

// forgetsOne logs the failures of a batch and settles all of it.
func forgetsOne(e Env) BatchHandler {
	handle := onceBy(byID, 0)(e)
	return func(ctx context.Context, batch []Message) []error {
		for _, m := range batch {
			_ = handle(ctx, m)
		}
		return nil
	}
}

// ownStore counts in a store of the test's own, looked at and written in two operations.
type ownStore struct {
	mu   sync.Mutex
	done map[string]int
}

func (s *ownStore) add(id string, n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done[id] += n
	return s.done[id]
}

func newOwnStore() *ownStore { return &ownStore{done: map[string]int{}} }

func ownLookFirst(e Env) Handler {
	store := Survivor(e, "store", newOwnStore)
	return func(ctx context.Context, m Message) error {
		n := 0
		err := e.Operate(ctx, "looks for "+m.ID, func() error { n = store.add(m.ID, 0); return nil })
		if err != nil || n > 0 {
			return err
		}
		return e.Operate(ctx, "adds "+m.ID, func() error { store.add(m.ID, 1); return nil })
	}
}

func countOwn(e Env) (map[string]int, error) {
	return Survivor(e, "store", newOwnStore).done, nil
}

func batched(newHandler func(Env) BatchHandler, options ...Option) *config {
	c := newConfig(options)
	c.newHandler, c.batch = newHandler, 3
	return c
}

// TestKnownBroken: every mistake is found within 200 schedules and called by its name,
// wherever the broker lets it show.
func TestKnownBroken(t *testing.T) {
	all := []Profile{Kafka, SQSStandard, SQSFIFO, RabbitMQQuorum, RabbitMQClassic}
	unordered := []Profile{SQSStandard, RabbitMQQuorum}
	tests := []mistake{
		{"plain", all, single(plain), noDeduplication()},
		{"look first", all, single(lookFirst), checkThenAct()},
		{"look first in SQL", []Profile{Kafka, RabbitMQQuorum}, single(sqlLookFirst, Setup(createTables), CountQuery(countPayments)), workBeforeClaim()},
		{"look first in a store of one's own", all, single(ownLookFirst, Counts(countOwn)), checkThenAct()},
		{"claim first", all, single(claimFirst), claimBeforeWork()},
		{"claim released", all, single(claimReleased), claimBeforeWork()},
		{"note after", all, single(noteAfter), workBeforeClaim()},
		{"short memory", all, single(onceBy(byID, time.Hour)), keyExpires()},
		{"day's memory", all, single(onceBy(byID, 24*time.Hour)), keyExpires()},
		{"broker id", all, single(onceBy(byBrokerID, 0)), brokerIDAsKey()},
		{"redelivered flag", []Profile{RabbitMQQuorum, RabbitMQClassic}, single(byFlag), trustsFlag()},
		{"in memory", all, single(inMemory), processMemory()},
		{"swallows", all, single(swallows), errorSwallowed()},
		{"goes on", all, single(goesOn), settledBeforeWork()},
		{"short claim", all, single(shortClaim), claimTooShort()},
		{"busy is done", []Profile{SQSStandard}, single(busyIsDone), busySettled()},
		{"highest only", []Profile{SQSStandard}, single(highestOnly), highWaterMark()},
		{"retries blindly", all, single(retriesBlindly), blindRetry()},
		{"last wins", unordered, single(lastWins), staleWrite()},
		{"no garbage", all, single(noGarbage), handlerPanics()},
		{"hangs", all, single(hangs), handlerHangs()},
		{"charges first", all, single(chargesFirst), workBeforeClaim()},
		{"all or nothing", all, batched(allOrNothing), noDeduplication()},
		{"forgets one", all, batched(forgetsOne), errorSwallowed()},
	}
	for _, test := range tests {
		for _, p := range test.on {
			t.Run(test.name+"/"+string(p), func(t *testing.T) {
				t.Parallel()
				test.isCaught(t, p)
			})
		}
	}
}
