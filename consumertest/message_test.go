// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/contract"
)

// fitOf is what is said before anything goes wrong.
func fitOf(t *testing.T, c *config) *finding {
	t.Helper()
	r, err := Kafka.rules(c.pace)
	if err != nil {
		t.Fatal(err)
	}
	return newTrial(c, &r).fit(t)
}

func does(what func(ctx context.Context, e Env, m Message) error) func(Env) Handler {
	return func(e Env) Handler {
		return func(ctx context.Context, m Message) error { return what(ctx, e, m) }
	}
}

// TestUnfitTests: a test that cannot tell anything says so instead of passing.
func TestUnfitTests(t *testing.T) {
	apply := func(ctx context.Context, e Env, m Message) error { return e.Effects.Apply(ctx, m.ID) }
	tests := []struct {
		name    string
		config  *config
		pattern pattern
	}{
		{"no-effect", single(does(func(context.Context, Env, Message) error { return nil })), noEffect()},
		{"never-works", single(does(func(context.Context, Env, Message) error { return errors.New("no route to host") }), Counts(countOwn)), wrongWithoutFaults()},
		{"twice-at-once", single(does(func(ctx context.Context, e Env, m Message) error {
			return errors.Join(apply(ctx, e, m), apply(ctx, e, m))
		})), wrongWithoutFaults()},
		{"key-of-others", single(does(func(ctx context.Context, e Env, m Message) error {
			m.ID = m.Key
			return apply(ctx, e, m)
		})), wrongWithoutFaults()},
		{"counts-fail", single(does(apply), Counts(func(Env) (map[string]int, error) {
			return nil, errors.New("connection refused")
		})), cannotSee()},
		{"query-fails", single(sqlOnce, Setup(createTables), CountQuery("SELECT event, count(*) FROM paiments GROUP BY event")), cannotSee()},
		{"no-database", single(does(apply), CountQuery(countPayments)), cannotSee()},
		{"toothless", single(ownLookFirst, Counts(func(Env) (map[string]int, error) {
			return map[string]int{"event-1": 1, "event-2": 1, "event-3": 1, "event-4": 1}, nil
		})), toothlessTest()},
		{"same-state", single(ownLookFirst, State(func(Env) (map[string]string, error) {
			return map[string]string{"answer": "42"}, nil
		})), noEffect()},
		{"left-behind", single(func(e Env) Handler {
			db := leaky()
			return func(ctx context.Context, m Message) error {
				if err := db.PingContext(ctx); err != nil {
					return err
				}
				return apply(ctx, e, m)
			}
		}), leftBehind()},
		{"hangs-at-once", single(does(func(context.Context, Env, Message) error { select {} })), handlerHangs()},
		{"panics-at-once", single(does(func(context.Context, Env, Message) error { panic("no such customer") })), handlerPanics()},
		{"setup-fails", single(does(apply), Setup(func(Env) error { return errors.New("no space left") })), setupFails()},
		{"constructor-panics", single(func(Env) Handler { panic("no configuration") }), handlerPanics()},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			found := fitOf(t, test.config)
			if found == nil {
				t.Fatal("nothing was found")
			}
			if found.cause != test.pattern {
				t.Errorf("named %q, want %q", found.cause.name, test.pattern.name)
			}
			golden(t, test.name, withoutLines(found.story("TestOrders/kafka")))
		})
	}
}

var lineNumber = regexp.MustCompile(`(_test\.go):\d+`)

// withoutLines cuts the numbers of lines, which change with every edit.
func withoutLines(story string) string { return lineNumber.ReplaceAllString(story, "$1:N") }

// TestRefusals: what makes no sense is one clear line.
func TestRefusals(t *testing.T) {
	same := func(int) Event { return Event{ID: "order-7"} }
	tests := []struct {
		options []Option
		want    string
	}{
		{[]Option{Events(same)}, `events 0 and 1 have the id "order-7": ids must differ and not be empty`},
		{[]Option{Events(func(int) Event { return Event{} })}, `event 0 has no id`},
		{[]Option{Claim(contract.Drained)}, `claim "drained" cannot be tested here: use one of [effectively-once at-least-once at-most-once order-per-key]`},
		{[]Option{Claim()}, `Claim names no claim`},
		{[]Option{On()}, `On names no profile`},
		{[]Option{On("kafak")}, `did you mean "kafka"?`},
		{[]Option{On(Kafka, SQSStandard), Claim(contract.AtLeastOnce), Sequential()}, ""},
	}
	for _, test := range tests {
		got := ""
		if err := newConfig(test.options).check(); err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, test.want) || test.want == "" && got != "" {
			t.Errorf("%s\nwant %s", got, test.want)
		}
	}
}

// TestSeeds: flags and environment.
func TestSeeds(t *testing.T) {
	c := newConfig(nil)
	t.Setenv("CONSUMERTEST_SEEDS", "3")
	if seeds, err := c.seeds(); err != nil || len(seeds) != 3 || seeds[2] != 3 {
		t.Errorf("seeds %v, %v; want 1 2 3", seeds, err)
	}
	t.Setenv("CONSUMERTEST_SEED", "17")
	if seeds, err := c.seeds(); err != nil || len(seeds) != 1 || seeds[0] != 17 {
		t.Errorf("seeds %v, %v; want 17", seeds, err)
	}
	t.Setenv("CONSUMERTEST_SEED", "many")
	if _, err := c.seeds(); err == nil || err.Error() != `CONSUMERTEST_SEED is "many", want a number` {
		t.Errorf("error %v", err)
	}
}

// TestStuck: a schedule that waits for something real says where.
func TestStuck(t *testing.T) {
	var mu sync.Mutex
	mu.Lock()
	var mark string
	entered, left := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(left)
		_ = inBubble(t, func() {
			entered <- bubbleMark()
			mu.Lock()
		})
	}()
	mark = <-entered
	for !strings.Contains(strings.Join(goroutines(mark), ""), "TestStuck.func") {
		time.Sleep(time.Millisecond)
	}
	var out bytes.Buffer
	tellStuck(&out, t.Name(), mark)
	mu.Unlock()
	<-left
	for _, want := range []string{"a schedule of TestStuck has made no progress", "consumertest.TestStuck"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}

// TestNotes: what a test could not reach or did not judge is said when it passes.
func TestNotes(t *testing.T) {
	ordered := Claim(contract.EffectivelyOnce, contract.OrderPerKey)
	tests := []struct {
		on     Profile
		config *config
		points int
		want   []string
	}{
		{Kafka, newConfig(nil), 1, nil},
		{Kafka, newConfig([]Option{ordered}), 1, nil},
		{Kafka, newConfig(nil), 0, []string{"it was hit only between its calls"}},
		{SQSStandard, newConfig([]Option{ordered}), 1, []string{"the order per key was not judged: sqs-standard does not keep it"}},
		{SQSFIFO, newConfig([]Option{RealTime()}), 1, []string{"of real time", "the visibility timeout was 500ms"}},
		{Kafka, newConfig([]Option{RealTime()}), 1, []string{"the session timeout was 400ms"}},
		{RabbitMQQuorum, newConfig([]Option{RealTime()}), 1, []string{"a redelivery comes at once"}},
	}
	for _, test := range tests {
		r, err := test.on.rules(test.config.pace)
		if err != nil {
			t.Fatal(err)
		}
		x := newTrial(test.config, &r)
		x.shape.points = test.points
		got := x.summary()
		if strings.Contains(got, "note:") != (len(test.want) > 0) {
			t.Errorf("%s: %s\nwant %q", test.on, got, test.want)
		}
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %s\nwant %q", test.on, got, want)
			}
		}
	}
}

// TestEventsForAnyNumber: events that a test does not have are its mistake, not a panic.
func TestEventsForAnyNumber(t *testing.T) {
	few := []Event{{ID: "a"}, {ID: "b"}}
	err := newConfig([]Option{Events(func(n int) Event { return few[n] })}).check()
	if err == nil || !strings.Contains(err.Error(), "Events panics: runtime error: index out of range [2]") {
		t.Errorf("error %v", err)
	}
}
