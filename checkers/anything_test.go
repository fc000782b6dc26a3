// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

// TestAnyHistoryIsJudged feeds events in any order and shape, as a damaged or foreign
// record may have them: no panic, every balance adds up, the same result twice, and every
// acked id in exactly one place.
func TestAnyHistoryIsJudged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := tell(rapid.SampledFrom([]string{kafka, sqs, fifo, rabbitmq, "localstack"}).Draw(t, "profile")).deadLetters(3)
		s.claims(contract.Claims()...)
		for _, text := range []string{"committed", "earliest", "seek", "load", "406 delivery acknowledgement timed out", "w0"} {
			s.ref(history.Texts, text)
		}
		places := []uint32{s.place("orders"), s.place("orders|1"), s.place("orders-dlq"), s.place("nowhere"), 0}
		sessions := []uint32{s.session("w0"), s.session("w1"), s.ref(history.Sessions, "p0||orders|1"), s.ref(history.Sessions, "x||orders-dlq|1"), 0}
		for range rapid.IntRange(0, 120).Draw(t, "events") {
			s.add(drawEvent(t, places, sessions))
		}
		first, second := s.check(), s.check()
		wantSound(t, &first)
		a, errA := json.Marshal(first)
		b, errB := json.Marshal(second)
		if errA != nil || errB != nil || string(a) != string(b) {
			t.Fatalf("two checks of one history differ (%v, %v)", errA, errB)
		}
	})
}

func drawEvent(t *rapid.T, places, sessions []uint32) history.Event {
	return history.Event{
		Kind:     history.Kind(rapid.IntRange(0, int(history.Kinds)).Draw(t, "kind")),
		Producer: rapid.Uint32Range(0, 1).Draw(t, "producer"),
		Seq:      rapid.Uint64Range(0, 3).Draw(t, "seq"),
		Session:  rapid.SampledFrom(sessions).Draw(t, "session"),
		Place:    rapid.SampledFrom(places).Draw(t, "place"),
		Op:       rapid.Uint32Range(0, 4).Draw(t, "op"),
		Key:      rapid.Uint32Range(0, 1).Draw(t, "key"),
		N:        rapid.Uint32Range(0, 3).Draw(t, "n"),
		Text:     rapid.Uint32Range(0, 7).Draw(t, "text"),
		Off:      rapid.Int64Range(-1, 5).Draw(t, "off"),
		D:        rapid.Int64Range(-5, 5).Draw(t, "d") * millisecond,
		Until:    rapid.Int64Range(0, 100).Draw(t, "until") * millisecond,
		Class:    contract.Class(rapid.IntRange(0, 4).Draw(t, "class")),
		Answer:   contract.Answer(rapid.IntRange(0, 6).Draw(t, "answer")),
		Flags:    history.Flag(1 << rapid.IntRange(0, 12).Draw(t, "flag")),
		Verb:     rapid.Uint8Range(0, 7).Draw(t, "verb"),
		Task:     rapid.Uint16Range(0, 2).Draw(t, "task"),
	}
}

func wantSound(t *rapid.T, r *Result) {
	if r.Verdict == contract.Unjudged {
		t.Fatal("not judged")
	}
	for i := range r.Claims {
		if r.Claims[i].Verdict == contract.Unjudged || r.Claims[i].Sentence == "" {
			t.Fatalf("claim without verdict or sentence: %+v", r.Claims[i])
		}
	}
	for i := range r.Ledger {
		b := &r.Ledger[i]
		if b.Difference != 0 {
			t.Fatalf("does not balance: %+v", b)
		}
		if b.Title == "Acked ids" && b.Total != r.Counts["acked"] {
			t.Fatalf("%d acked ids in the ledger, %d counted", b.Total, r.Counts["acked"])
		}
	}
	if r.Verdict == contract.Inconclusive && len(r.Missing) == 0 {
		t.Fatal("inconclusive without a reason")
	}
}
