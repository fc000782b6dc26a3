// SPDX-License-Identifier: Apache-2.0

package runner_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/history"
)

// TestLinkFaults: on the model, by the counts of counts().
func TestLinkFaults(t *testing.T) {
	const kafka, sqs, rabbit = "kafka", "sqs", "rabbitmq"
	all := []string{kafka, sqs, rabbit}
	for _, c := range []struct {
		step     string
		profiles []string
		more     string
		want     [7]int
	}{
		{"link-latency, target: all, latency: 30ms, for: 300ms", all, "", [7]int{100, 100, 0, 0, 0, 0, 0}},
		{"link-hold, target: producers, for: 300ms", all, "", [7]int{100, 100, 0, 0, 0, 0, 0}},
		{"link-hold, target: billing, for: 300ms", all, "", [7]int{100, 100, 0, 0, 0, 0, 0}},
		// The client gives up after 200 ms; what it sent arrives all the same, and what it
		// sends again is a copy.
		{"link-hold, target: p0, for: 300ms", all, "timeout: 200ms", [7]int{100, 100, 0, 0, 10, 0, 0}},
		{"link-hold, target: p0, way: down, for: 300ms", all, "timeout: 200ms", [7]int{100, 100, 0, 0, 10, 0, 0}},
		{"link-hold, target: p0, for: 300ms", all, "timeout: 200ms, on-error: resend", [7]int{110, 100, 10, 10, 10, 0, 0}},
		{"link-black-hole, target: p0, way: up, for: 100ms", all, "timeout: 200ms", [7]int{90, 90, 0, 0, 10, 0, 0}},
		{"link-black-hole, target: p0, way: down, for: 100ms", all, "timeout: 200ms", [7]int{100, 100, 0, 0, 10, 0, 0}},
		{"link-cut, target: p0, for: 100ms", all, "", [7]int{90, 90, 0, 0, 0, 10, 0}},
		{"link-reset, target: billing/0", all, "", [7]int{100, 100, 0, 0, 0, 0, 0}},
	} {
		for _, profile := range c.profiles {
			s := try(t, "  - {at: 195ms, do: "+c.step+"}", profile, c.more)
			if got := s.counts(); s.failed != nil || got != c.want {
				t.Errorf("%s on %s: %v, %v, want %v (%v)", c.step, profile, s.failed, got, c.want, s.faults)
			}
			if len(s.faults) != 3 {
				t.Errorf("%s on %s: %v", c.step, profile, s.faults)
			}
		}
	}
}

// took counts how long publishes and deliveries took, where that was any time.
func (s *seen) took(t *testing.T, kind history.Kind) map[time.Duration]int {
	t.Helper()
	took := map[time.Duration]int{}
	err := s.run.Each(history.Only(kind), func(e *history.Event) {
		if e.D > 0 {
			took[time.Duration(e.D)]++
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return took
}

// TestLinkLatencyIsExact: an answer is late by the ways that are. What is on its way when
// the link heals has one slow half; on one connection nothing overtakes what is late, so
// that those behind it are late too.
func TestLinkLatencyIsExact(t *testing.T) {
	for _, c := range []struct{ way, profile, want string }{
		{"up", "sqs", "map[30ms:10]"},
		{"down", "sqs", "map[30ms:10]"},
		{"both", "sqs", "map[30ms:3 60ms:7]"},
		{"up", "kafka", "map[10ms:1 20ms:1 30ms:10]"},
		{"down", "rabbitmq", "map[10ms:1 20ms:1 30ms:10]"},
		{"both", "rabbitmq", "map[10ms:1 20ms:1 30ms:1 40ms:1 50ms:1 60ms:7]"},
	} {
		s := try(t, "  - {at: 195ms, do: link-latency, target: producers, way: "+c.way+", latency: 30ms, for: 100ms}", c.profile, "")
		if got := fmt.Sprint(s.took(t, history.PublishAnswer)); got != c.want {
			t.Errorf("%s on %s: answers took %s, want %s", c.way, c.profile, got, c.want)
		}
	}
}

// TestLinkHoldIsSilence: every answer that was held comes when the link heals.
func TestLinkHoldIsSilence(t *testing.T) {
	for _, way := range []string{"both", "up", "down"} {
		s := try(t, "  - {at: 195ms, do: link-hold, target: producers, way: "+way+", for: 40ms}", "sqs", "")
		if got := fmt.Sprint(s.lateAnswers(t)); got != "[235ms 235ms 235ms 235ms]" {
			t.Errorf("%s: answers at %s", way, got)
		}
	}
}
