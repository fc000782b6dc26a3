// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
)

// overNetwork has its effects behind a real connection.
func overNetwork(handle func(*ownStore, string)) func(Env) Handler {
	return func(e Env) Handler {
		store := Survivor(e, "store", newOwnStore)
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			handle(store, r.URL.Path[1:])
		}))
		e.Cleanup(server.Close)
		client := server.Client()
		return func(ctx context.Context, m Message) error {
			return e.Operate(ctx, "asks for "+m.ID, func() error {
				answer, err := client.Post(server.URL+"/"+m.ID, "", nil)
				if err != nil {
					return err
				}
				return answer.Body.Close()
			})
		}
	}
}

func addAlways(s *ownStore, id string) { s.add(id, 1) }

func addOnce(s *ownStore, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done[id] = 1
}

// TestRealTime: a handler with a network behind it is judged as one without.
func TestRealTime(t *testing.T) {
	for _, p := range []Profile{Kafka, SQSFIFO, RabbitMQQuorum} {
		t.Run(string(p), func(t *testing.T) {
			t.Parallel()
			if found, _ := hunt(t, single(overNetwork(addOnce), Counts(countOwn), RealTime()), p, 5); found != nil {
				t.Error(found.story(t.Name()))
			}
			found, _ := hunt(t, single(overNetwork(addAlways), Counts(countOwn), RealTime()), p, 20)
			if found == nil || found.cause != noDeduplication() {
				t.Errorf("found %+v, want no deduplication", found)
			}
		})
	}
}

// TestReplay: a seed gives the same story, line by line, each time.
func TestReplay(t *testing.T) {
	for _, p := range []Profile{Kafka, SQSStandard, RabbitMQQuorum} {
		r, err := p.rules(virtualPace())
		if err != nil {
			t.Fatal(err)
		}
		x := newTrial(batched(eachOfBatch), &r)
		if found := x.fit(t); found != nil {
			t.Fatal(found.story(t.Name()))
		}
		for seed := uint64(30); seed < 80; seed++ {
			mixed := families()[4]
			first, again := x.play(t, x.shape.plan(mixed, seed)), x.play(t, x.shape.plan(mixed, seed))
			if len(first.trace) != len(again.trace) {
				t.Fatalf("%s seed %d: %d lines, then %d", p, seed, len(first.trace), len(again.trace))
			}
			for i, e := range first.trace {
				if e != again.trace[i] {
					t.Fatalf("%s seed %d line %d: %v, then %v", p, seed, i, e, again.trace[i])
				}
			}
		}
	}
}
