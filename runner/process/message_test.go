// SPDX-License-Identifier: Apache-2.0

package process

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/clock"
	"github.com/seed-720a3c77/harness/effects"
	"github.com/seed-720a3c77/harness/msg"
	"github.com/seed-720a3c77/harness/runner"
)

func TestMessagesComeAsTheyWent(t *testing.T) {
	id := msg.ID{Producer: 1<<32 - 1, Seq: 1<<64 - 1}
	sent := []message{
		{Kind: jobIs, Job: &Job{
			Seat: runner.Seat{Group: "billing", Number: 3, Life: 2}, Dir: "runs/x", File: "a.yaml", Source: "name: a\n# \"é\"\n", Variant: "a+b",
			Seed: 1<<64 - 1, Zero: zero{Wall: time.Unix(12, 345).UTC(), Monotonic: 17}, Connect: json.RawMessage(`{"password":"p"}`),
		}},
		{Kind: begin, Text: "memory (plain)"},
		{Kind: reach, Call: 1<<64 - 1, Text: "mid-batch", N: 50, ID: &id},
		{Kind: failures, Call: 2, ID: &msg.ID{}, N: 1},
		{Kind: apply, Call: 3, Key: &effects.Key{Subscription: "b|\n", ID: id}, Text: "billing/0"},
		{Kind: answer, Call: 3, Result: &effects.Result{Skipped: true, Refused: true, Count: 2}, Error: "line\nline"},
		{Kind: notice, Notice: &broker.Notice{Kind: broker.Assigned, Partition: 1, Generation: 2, Offset: -1, Epoch: 3, Code: "c", Text: "t"}},
		{Kind: counted, Counts: &counts{Delivered: 1, Handled: 2, Failed: 3, Settled: 4}},
		{Kind: holding, On: true}, {Kind: session, Text: "billing/0-1-1|g|orders|1", On: true}, {Kind: leave},
	}
	var wire bytes.Buffer
	l := newLink(&wire, &wire)
	for _, m := range sent {
		if err := l.send(m); err != nil {
			t.Fatal(err)
		}
	}
	if lines := strings.Count(wire.String(), "\n"); lines != len(sent) {
		t.Errorf("%d lines for %d messages", lines, len(sent))
	}
	for _, want := range sent {
		if got, err := l.receive(); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
	}
	if _, err := l.receive(); !errors.Is(err, io.EOF) {
		t.Errorf("after the last: %v", err)
	}
}

func TestWhatIsNoMessageIsAnError(t *testing.T) {
	for _, text := range []string{"hello\n", "{\"kind\":7}\n", "\x00\xff\n", "[]\n", strings.Repeat("x", maxLine+1)} {
		if m, err := newLink(strings.NewReader(text), nil).receive(); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%.20q: %+v, %v", text, m, err)
		}
	}
}

// TestZeroIsOneInstant: two clocks that share an instant zero tell the same time, though
// one of them knows it by text alone.
func TestZeroIsOneInstant(t *testing.T) {
	here := clock.NewWall(1)
	defer here.Close()
	text, err := json.Marshal(zeroOf(here))
	if err != nil {
		t.Fatal(err)
	}
	var z zero
	if err := json.Unmarshal(text, &z); err != nil {
		t.Fatal(err)
	}
	there := clock.NewWallAt(1, z.instant())
	defer there.Close()
	before := here.Now()
	now := there.Now()
	after := here.Now()
	const reading = 100 * time.Microsecond // what a reading may be apart on a busy machine
	if now < before-reading || now > after+reading {
		t.Errorf("the other clock says %s between %s and %s", now, before, after)
	}
}
