// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/history"
)

func TestOpenMessaging(t *testing.T) {
	const two = `
		c0 enqueue REQUEST a null 1000 null
		c0 enqueue RESPONSE SUCCESS a null 1002 2 null 0
		c0 enqueue REQUEST b null 1003 null
		c0 enqueue RESPONSE SUCCESS b null 1004 1 null 0`
	cases := []struct{ name, text, want string }{
		{"all is well", two + `
			c1 dequeue REQUEST null null 1005 null
			c1 dequeue RESPONSE SUCCESS a null 1006 1 null 4
			c1 dequeue RESPONSE SUCCESS b null 1006 1 null 2`,
			"2 acked 0 unknown 0 rejected; at-least-once pass; at-most-once pass"},
		{"a failure is unknown, and recovered when it is delivered", two + `
			c0 enqueue REQUEST c null 1005 null
			c0 enqueue RESPONSE FAILURE c null 1006 1 null 0
			c0 enqueue REQUEST d null 1007 null
			c0 enqueue RESPONSE UNKNOWN d null 1008 1 null 0
			c0 enqueue REQUEST e null 1009 null
			c1 dequeue RESPONSE SUCCESS a null 1010 1 null 4
			c1 dequeue RESPONSE SUCCESS b null 1010 1 null 4
			c1 dequeue RESPONSE SUCCESS c null 1010 1 null 4`,
			"2 acked 3 unknown 0 rejected; recovered p0/2; at-least-once inconclusive; at-most-once inconclusive"},
		{"twice is a duplicate", two + `
			c1 dequeue RESPONSE SUCCESS a null 1006 1 null 4
			c1 dequeue RESPONSE SUCCESS b null 1006 1 null 4
			c2 dequeue RESPONSE SUCCESS b null 1007 1 null 4`,
			"2 acked 0 unknown 0 rejected; effect-duplicates p0/1; duplicate-after-ack p0/1; redelivered p0/1; at-least-once violated; at-most-once violated; contract violated"},
		{"what was not dequeued is not lost by that", two + `
			c1 dequeue RESPONSE SUCCESS a null 1006 1 null 4
			c1 dequeue REQUEST null null 1007 null
			c1 dequeue RESPONSE FAILURE null null 1008 1 null 0`,
			"2 acked 0 unknown 0 rejected; undrained p0/1; at-least-once inconclusive; at-most-once pass"},
		{"delivered before the answer, and what nobody sent", `
			c0 enqueue REQUEST a null 1000 null
			c1 dequeue RESPONSE SUCCESS a null 1001 1 null 1
			c1 dequeue RESPONSE SUCCESS z null 1001 1 null 1
			c0 enqueue RESPONSE SUCCESS a null 1002 2 null 0`,
			"1 acked 0 unknown 0 rejected; from-nowhere p0/1; at-least-once pass; at-most-once pass; integrity violated"},
		{"a last line that was cut", two + `
			c1 dequeue RESPONSE SUCCESS a null 1006 1 null 4
			c1 dequeue RESPONSE SUCCESS b null 1006 1 null 4
			c1 dequeue RESP`,
			"2 acked 0 unknown 0 rejected; at-least-once pass; at-most-once pass"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := verdict(t, imported(t, "openmessaging", tabs(c.text))); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestOpenMessagingTimes(t *testing.T) {
	run := imported(t, "openmessaging", tabs(`
		c0 enqueue REQUEST a k 5000 null
		fault kill start 5001 n1
		c0 enqueue RESPONSE SUCCESS a k 5002 2 null 0
		fault kill end 5004
		`))
	want := []string{"0 publish-start p0/0", "1 fault-active p0/0", "2 publish-answer p0/0", "4 fault-healed p0/0", "4 drained p0/0"}
	if got := told(t, run); !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
	if len(run.Header.Faults) != 1 || run.Header.Faults[0].Name != "kill" {
		t.Errorf("faults %v", run.Header.Faults)
	}
}

// TestOpenMessagingFaultsOverlap: each ends by its name.
func TestOpenMessagingFaultsOverlap(t *testing.T) {
	run := imported(t, "openmessaging", tabs(`
		fault kill start 5000 n1
		fault slow start 5001 n2
		fault kill end 5002 n1
		fault slow end 5003 n2
		fault none end 5004 n2
		c0 enqueue REQUEST a k 5005 null
		`))
	var got []uint32
	err := run.Each(history.Only(history.FaultActive, history.FaultHealed), func(e *history.Event) { got = append(got, e.Op) })
	if want := []uint32{1, 2, 1, 2}; err != nil || !slices.Equal(got, want) {
		t.Errorf("faults %v, want %v (%v)", got, want, err)
	}
}

func TestOpenMessagingRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"c0 enqueue\nc0 enqueue REQUEST a null 5 null\n":                      "want a request, a response or a fault",
		"c0 enqueue RESPONSE SUCCESS a null 5 1 null 0\nc0 enqueue REQUEST\n": "that was not asked for",
		"c0 put RESPONSE SUCCESS a null 5 1 null 0\nfault\n":                  `"put" is no operation of a queue`,
		"c0 enqueue REQUEST a null soon null\nfault\n":                        `time "soon"`,
	} {
		if _, err := inMemory("openmessaging", tabs(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
