// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

// The handlers of this file are wrong as well, in the shapes in which people write that.

// once is the right way to do the work of an event, for handlers that are wrong elsewhere.
func once(ctx context.Context, e Env, m Message) error {
	return e.Effects.Transaction(ctx, func(tx *Tx) error {
		if tx.Claim(m.ID, 0) != 0 {
			tx.Apply(m.ID)
		}
		return nil
	})
}

// setNX is SET key NX EX 300 before the work, and DEL when the work has failed.
func setNX(e Env) Handler {
	return func(ctx context.Context, m Message) error {
		token, err := e.Effects.Claim(ctx, "lock:"+m.ID, 5*time.Minute)
		if err != nil || token == 0 {
			return err
		}
		if err := e.Effects.Transaction(ctx, func(tx *Tx) error {
			if !tx.Seen("row:" + m.ID) {
				tx.Apply(m.ID)
				tx.Remember("row:"+m.ID, 0)
			}
			return nil
		}); err != nil {
			return errors.Join(err, e.Effects.Forget(ctx, "lock:"+m.ID))
		}
		return nil
	}
}

// recovers settles what has panicked.
func recovers(e Env) Handler {
	return func(ctx context.Context, m Message) error {
		defer func() { _ = recover() }()
		return once(ctx, e, m)
	}
}

// stopsQuietly takes the end of its context for the end of the work.
func stopsQuietly(e Env) Handler {
	return func(ctx context.Context, m Message) error {
		err := once(ctx, e, m)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the mistake that is planted
		}
		return err
	}
}

// addsUp reads a balance and writes it back.
func addsUp(e Env) Handler {
	return func(ctx context.Context, m Message) error {
		text, err := e.Effects.Get(ctx, m.Key)
		if err != nil {
			return err
		}
		sum, _ := strconv.Atoi(text)
		return e.Effects.Set(ctx, m.Key, strconv.Itoa(sum+10))
	}
}

// addsUpOnce knows its events, and reads the balance before it is alone with it.
func addsUpOnce(e Env) Handler {
	return func(ctx context.Context, m Message) error {
		text, err := e.Effects.Get(ctx, m.Key)
		if err != nil {
			return err
		}
		sum, _ := strconv.Atoi(text)
		return e.Effects.Transaction(ctx, func(tx *Tx) error {
			if tx.Claim(m.ID, 0) != 0 {
				tx.Set(m.Key, strconv.Itoa(sum+10))
			}
			return nil
		})
	}
}

// lockedForEver claims without an end and fails while somebody else has the claim.
func lockedForEver(e Env) Handler {
	return func(ctx context.Context, m Message) error {
		done, err := e.Effects.Seen(ctx, "done "+m.ID)
		if err != nil || done {
			return err
		}
		token, err := e.Effects.Claim(ctx, m.ID, 0)
		if err != nil {
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

// givesUp drops what came too often, without a try.
func givesUp(e Env) Handler {
	return func(ctx context.Context, m Message) error {
		if m.Deliveries > 2 {
			return nil
		}
		return once(ctx, e, m)
	}
}

// skipsRedelivered takes everything that is flagged for done.
func skipsRedelivered(e Env) Handler {
	return func(ctx context.Context, m Message) error {
		if m.Redelivered || m.Deliveries > 1 {
			return nil
		}
		return once(ctx, e, m)
	}
}

// notesInCache remembers in the process before it is done.
func notesInCache(e Env) Handler {
	var known sync.Map
	return func(ctx context.Context, m Message) error {
		if _, loaded := known.LoadOrStore(m.ID, true); loaded {
			return nil
		}
		return once(ctx, e, m)
	}
}

// flushes writes in bulk, now and then.
func flushes(e Env) Handler {
	var mu sync.Mutex
	var waiting []Message
	flush := func() {
		mu.Lock()
		todo := waiting
		waiting = nil
		mu.Unlock()
		for _, m := range todo {
			_ = once(context.Background(), e, m)
		}
	}
	return func(_ context.Context, m Message) error {
		mu.Lock()
		waiting = append(waiting, m)
		mu.Unlock()
		time.AfterFunc(5*time.Second, flush)
		return nil
	}
}

// byOffset keeps the highest offset of each partition with its effects.
func byOffset(e Env) Handler {
	return func(ctx context.Context, m Message) error {
		return e.Effects.Transaction(ctx, func(tx *Tx) error {
			name := "offset of " + strconv.Itoa(int(m.Partition))
			known, err := strconv.ParseInt(tx.Get(name), 10, 64)
			if err == nil && m.Offset <= known {
				return nil
			}
			tx.Set(name, strconv.FormatInt(m.Offset, 10))
			tx.Apply(m.ID)
			return nil
		})
	}
}

// locked does look, work and note under a lock with a lease.
func locked(e Env) Handler {
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
		if err := e.Effects.Apply(ctx, m.ID); err != nil {
			return err
		}
		return e.Effects.Remember(ctx, m.ID, 0)
	}
}

// slowly outlasts the visibility timeout by itself.
func slowly(e Env) Handler {
	return func(ctx context.Context, m Message) error {
		time.Sleep(45 * time.Second)
		return e.Effects.Apply(ctx, m.ID)
	}
}

// slowlyLooked outlasts it between look and work.
func slowlyLooked(e Env) Handler {
	return func(ctx context.Context, m Message) error {
		seen, err := e.Effects.Seen(ctx, m.ID)
		if err != nil || seen {
			return err
		}
		time.Sleep(45 * time.Second)
		return e.Effects.Transaction(ctx, func(tx *Tx) error {
			tx.Apply(m.ID)
			tx.Remember(m.ID, 0)
			return nil
		})
	}
}

// statusRow has a row with a status, and begins again what was not finished.
func statusRow(e Env) Handler {
	return func(ctx context.Context, m Message) error {
		status := ""
		err := e.Effects.Transaction(ctx, func(tx *Tx) error {
			if status = "working"; tx.Seen("done " + m.ID) {
				status = "done"
			}
			tx.Remember("working "+m.ID, 0)
			return nil
		})
		if err != nil || status == "done" {
			return err
		}
		if err := e.Effects.Apply(ctx, m.ID); err != nil {
			return err
		}
		return e.Effects.Remember(ctx, "done "+m.ID, 0)
	}
}

// slidingMemory keeps a key for a day after it was last seen.
func slidingMemory(e Env) Handler {
	return func(ctx context.Context, m Message) error {
		return e.Effects.Transaction(ctx, func(tx *Tx) error {
			if !tx.Seen(m.ID) {
				tx.Apply(m.ID)
			}
			tx.Remember(m.ID, 24*time.Hour)
			return nil
		})
	}
}

// smallMemory keeps the last two keys, in a store of its own with the effects.
func smallMemory(e Env) Handler {
	store := Survivor(e, "ring", func() *ring { return &ring{done: map[string]int{}} })
	return func(ctx context.Context, m Message) error {
		return e.Operate(ctx, "does "+m.ID+" unless it was one of the last two", func() error { store.do(m.ID); return nil })
	}
}

// ring is a store of effects that remembers two of them.
type ring struct {
	mu   sync.Mutex
	last [2]string
	done map[string]int
}

func (r *ring) do(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if id != r.last[0] && id != r.last[1] {
		r.done[id]++
		r.last = [2]string{r.last[1], id}
	}
}

func countRing(e Env) (map[string]int, error) {
	return Survivor(e, "ring", func() *ring { return &ring{} }).done, nil
}

func plainMistakes() []mistake {
	all := []Profile{Kafka, SQSStandard, SQSFIFO, RabbitMQQuorum, RabbitMQClassic}
	counted := []Profile{SQSStandard, SQSFIFO, RabbitMQQuorum}
	return []mistake{
		{"set nx", all, single(setNX), busySettled()},
		{"recovers", all, single(recovers), errorSwallowed()},
		{"stops quietly", all, single(stopsQuietly), errorSwallowed()},
		{"adds up", all, single(addsUp), noDeduplication()},
		{"adds up once", []Profile{SQSStandard, RabbitMQQuorum}, single(addsUpOnce), lostUpdate()},
		{"locked for ever", all, single(lockedForEver), claimNeverEnds()},
		{"gives up", counted, single(givesUp), redeliveredIsDone()},
		{"skips redelivered", counted, single(skipsRedelivered), redeliveredIsDone()},
		{"notes in cache", all, single(notesInCache), claimBeforeWork()},
		{"flushes", all, single(flushes), settledBeforeWork()},
		{"by offset", []Profile{Kafka}, single(byOffset), brokerIDAsKey()},
		{"locked", all, single(locked), workBeforeClaim()},
		{"slowly", []Profile{SQSFIFO}, single(slowly), slowerThanLease()},
		{"slowly looked", []Profile{SQSStandard, SQSFIFO}, single(slowlyLooked), slowerThanLease()},
		{"status row", all, single(statusRow), workBeforeClaim()},
		{"sliding memory", all, single(slidingMemory), keyExpires()},
		{"small memory", all, single(smallMemory, Counts(countRing)), keyExpires()},
	}
}

// mistake is a broken handler, where it has to be caught, and its name.
type mistake struct {
	name    string
	on      []Profile
	config  *config
	pattern pattern
}

func TestShapes(t *testing.T) {
	for _, m := range slices.Concat(plainMistakes(), batchMistakes(), httpMistakes(), sqlMistakes(), moreMistakes()) {
		for _, p := range m.on {
			t.Run(m.name+"/"+string(p), func(t *testing.T) {
				t.Parallel()
				m.isCaught(t, p)
			})
		}
	}
}

// isCaught: within 200 schedules, and rightly named.
func (m *mistake) isCaught(t *testing.T, on Profile) {
	found, tried := hunt(t, m.config, on, 200)
	if found == nil {
		t.Fatalf("not found in %d schedules", tried)
	}
	if found.cause != m.pattern {
		t.Errorf("named %q, want %q\n%s", found.cause.name, m.pattern.name, found.story(t.Name()))
	}
}
