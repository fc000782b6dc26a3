// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/history"
)

// jepsenLog is a log in which a value was written between two that were read, and not read.
const jepsenLog = `{:index 0, :time 0, :process 0, :type :invoke, :f :send, :value [[:send :x 0]]}
{:index 1, :time 1000000, :process 0, :type :ok, :f :send, :value [[:send :x [0 0]]]}
{:index 2, :time 2000000, :process 0, :type :invoke, :f :send, :value [[:send :x 1]]}
{:index 3, :time 3000000, :process 0, :type :ok, :f :send, :value [[:send :x [1 1]]]}
{:index 4, :time 3000000, :process 0, :type :invoke, :f :send, :value [[:send :x 2]]}
{:index 5, :time 4000000, :process 0, :type :ok, :f :send, :value [[:send :x [2 2]]]}
{:index 6, :time 5000000, :process 1, :type :invoke, :f :poll, :value [[:poll]]}
{:index 7, :time 6000000, :process 1, :type :ok, :f :poll, :value [[:poll {:x [[0 0] [2 2]]}]]}
`

// edn makes a history of operations: process, type, f and value.
func edn(ops ...string) string {
	var b strings.Builder
	for i, op := range ops {
		word := strings.SplitN(op, " ", 4)
		fmt.Fprintf(&b, "{:index %d, :time %d, :process %s, :type :%s, :f :%s, :value %s}\n", i, i*1_000_000, word[0], word[1], word[2], word[3])
	}
	return b.String()
}

func TestJepsenLog(t *testing.T) {
	sent := edn("0 ok send [[:send :x [0 0]]]", "0 ok send [[:send :x [1 1]]]", "0 ok send [[:send :x [2 2]]]")
	cases := []struct{ name, text, want string }{
		{"all is well", edn("0 ok send [[:send :x [0 0]]]", "1 ok poll [[:poll {:x [[0 0]]}]]"),
			"1 acked 0 unknown 0 rejected; at-least-once pass"},
		{"lost", jepsenLog,
			"3 acked 0 unknown 0 rejected; lost-write p0/1; poll-skip p0/1; at-least-once violated; contract violated"},
		{"not read is not lost", sent + edn("1 ok poll [[:poll {:x [[0 0] [1 1]]}]]"),
			"3 acked 0 unknown 0 rejected; undrained p0/2; at-least-once inconclusive"},
		{"one vector", "[" + sent + "]",
			"3 acked 0 unknown 0 rejected; undrained p0/0 p0/1 p0/2; at-least-once inconclusive"},
		{"a last form that was cut", edn("0 ok send [[:send :x [0 0]]]", "1 ok poll [[:poll {:x [[0 0]]}]]") + "{:index 7, :time 8, :proc",
			"1 acked 0 unknown 0 rejected; at-least-once pass"},
		{"tagged records, commas, comments and forms to drop",
			"; a history\n#jepsen.history.Op{:index 0, :time 1, :type :ok, :process 0, :f :send, :value [[:send :x [0 0]]], :error #{1 2}}\n#_{:index 1}\n" +
				`#jepsen.history.Op{:index 2, :time 5N, :type :ok, :process 1, :f :poll, :value ((:poll {:x [[0 0]]})), :error [:x "a\"]}"], :more ^{:a 1} [\] 1.5]}`,
			"1 acked 0 unknown 0 rejected; at-least-once pass"},
		{"info is unknown for all that the operation sent", edn("0 info txn [[:send :x 0] [:send :y 1]]", "1 ok poll [[:poll {:y [[0 1]]}]]"),
			"0 acked 2 unknown 0 rejected; recovered p1/1; at-least-once inconclusive"},
		{"aborted and read", edn("0 fail txn [[:send :x 0]]", "1 ok txn [[:poll {:x [[0 0]]}]]"),
			"0 acked 0 unknown 1 rejected; aborted-read p0/0; at-least-once inconclusive; integrity violated"},
		{"two values at an offset", edn("0 ok send [[:send :x [0 0]]]", "1 ok send [[:send :x [0 1]]]"),
			"2 acked 0 unknown 0 rejected; inconsistent-offset p0/1; undrained p0/0 p0/1; at-least-once inconclusive; integrity violated"},
		{"read again", sent + edn("1 ok poll [[:poll {:x [[0 0] [1 1] [2 2]]}]]", "1 ok poll [[:poll {:x [[1 1]]}]]"),
			"3 acked 0 unknown 0 rejected; nonmonotonic-poll p0/1; at-least-once pass; contract violated"},
		{"read again by another process", sent + edn("1 ok poll [[:poll {:x [[0 0] [1 1] [2 2]]}]]", "2 ok poll [[:poll {:x [[1 1]]}]]"),
			"3 acked 0 unknown 0 rejected; at-least-once pass"},
		{"read again after another assignment", sent + edn("1 ok poll [[:poll {:x [[0 0] [1 1] [2 2]]}]]", "1 ok assign [:y]", "1 ok poll [[:poll {:x [[1 1]]}]]"),
			"3 acked 0 unknown 0 rejected; at-least-once pass"},
		{"a rebalance inside an operation", sent + edn("1 ok poll [[:poll {:x [[0 0] [1 1] [2 2]]}]]",
			"1 ok poll [[:poll {:x [[1 1]]}]], :rebalance-log [{:keys [:x], :op {}}]"),
			"3 acked 0 unknown 0 rejected; at-least-once pass"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := verdict(t, imported(t, "jepsen", c.text)); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestJepsenQueue(t *testing.T) {
	cases := []struct {
		name string
		ops  []string
		want string
	}{
		{"all is well", []string{"0 invoke enqueue 1", "0 ok enqueue 1", "1 invoke dequeue nil", "1 ok dequeue 1", "2 invoke drain nil", "2 ok drain []"},
			"1 acked 0 unknown 0 rejected; at-least-once pass"},
		{"drained", []string{"0 invoke enqueue 1", "0 ok enqueue 1", "0 invoke enqueue 2", "0 ok enqueue 2", "2 ok drain [1 2]"},
			"2 acked 0 unknown 0 rejected; at-least-once pass"},
		{"recovered", []string{"0 invoke enqueue 1", "0 info enqueue 1", "0 invoke enqueue 2", "2 ok drain [1]"},
			"0 acked 2 unknown 0 rejected; recovered p0/0; at-least-once inconclusive"},
		{"failed, and there", []string{"0 invoke enqueue 1", "0 fail enqueue 1", "2 ok drain [1]"},
			"0 acked 0 unknown 1 rejected; phantom p0/0; at-least-once inconclusive; integrity violated"},
		{"nobody put it in", []string{"0 invoke enqueue 1", "0 ok enqueue 1", "2 ok drain [1 9]"},
			"1 acked 0 unknown 0 rejected; from-nowhere p0/1; at-least-once pass; integrity violated"},
		{"out twice", []string{"0 invoke enqueue 1", "0 ok enqueue 1", "1 ok dequeue 1", "2 ok dequeue 1"},
			"1 acked 0 unknown 0 rejected; effect-duplicates p0/0; duplicate-after-ack p0/0; redelivered p0/0; at-least-once violated; contract violated"},
		{"a drain and a dequeue without an answer had got something", []string{"0 invoke enqueue 1", "0 ok enqueue 1", "0 invoke enqueue 2", "0 ok enqueue 2", "0 invoke enqueue 3", "0 ok enqueue 3", "1 info dequeue 2", "2 info drain [1]"},
			"3 acked 0 unknown 0 rejected; undrained p0/2; at-least-once inconclusive"},
		{"left", []string{"0 invoke enqueue 1", "0 ok enqueue 1", "0 invoke enqueue 2", "0 ok enqueue 2", "1 ok dequeue 1"},
			"2 acked 0 unknown 0 rejected; undrained p0/1; at-least-once inconclusive"},
		{"lost: a drain went well and it was not there", []string{"0 invoke enqueue 1", "0 ok enqueue 1", "0 invoke enqueue 2", "0 ok enqueue 2", "1 ok drain [1]"},
			"2 acked 0 unknown 0 rejected; lost-undelivered p0/1; at-least-once violated"},
		{"the nemesis", []string{"0 invoke enqueue 1", "0 ok enqueue 1", ":nemesis info start-partition nil", ":nemesis info stop-partition nil", "1 ok drain [1]"},
			"1 acked 0 unknown 0 rejected; at-least-once pass"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := verdict(t, imported(t, "jepsen", edn(c.ops...))); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestJepsenFaults(t *testing.T) {
	run := imported(t, "jepsen", edn("0 invoke enqueue 1", ":nemesis info kill nil", "0 ok enqueue 1", ":nemesis info restart nil", ":nemesis info shake nil"))
	want := []string{"0 publish-start p0/0", "1 fault-active p0/0", "2 publish-answer p0/0", "3 fault-healed p0/0", "4 drained p0/0"}
	if got := told(t, run); !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
}

// TestNemesis: operations of the nemesis come before and after, overlap, and are told apart by
// their nouns.
func TestNemesis(t *testing.T) {
	cases := []struct {
		name string
		ops  []string
		want string
	}{
		{"once each", []string{"start-partition", "stop-partition", "start", "stop"}, "0 active 1, 1 healed 1, 2 active 2, 3 healed 2"},
		{"before and after", []string{"kill", "kill", "start", "start", "pause", "pause", "resume", "resume"}, "0 active 1, 3 healed 1, 4 active 2, 7 healed 2"},
		{"one within another", []string{"start-partition", "start-partition", "kill", "kill", "stop-partition", "stop-partition", "start", "start"},
			"0 active 1, 2 active 2, 5 healed 1, 7 healed 2"},
		{"the first is over first", []string{"start-partition", "pause", "stop-partition", "resume"}, "0 active 1, 1 active 2, 2 healed 1, 3 healed 2"},
		{"begun again while it lasts", []string{"kill", "shake", "kill", "start"}, "0 active 1, 3 healed 1"},
		{"clocks", []string{"bump-clock", "reset-clock", "strobe-clock", "reset-clock"}, "0 active 1, 1 healed 1, 2 active 2, 3 healed 2"},
		{"nothing to end", []string{"heal", "stop", "resume"}, ""},
	}
	for _, c := range cases {
		ops := []string{}
		for _, f := range c.ops {
			ops = append(ops, ":nemesis info "+f+" nil")
		}
		run := imported(t, "jepsen", edn(append(ops, "0 invoke enqueue 1")...))
		var got []string
		err := run.Each(history.Only(history.FaultActive, history.FaultHealed), func(e *history.Event) {
			got = append(got, fmt.Sprintf("%d %s %d", e.T/1e6, strings.TrimPrefix(e.Kind.String(), "fault-"), e.Op))
		})
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}

func TestJepsenRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"{:process 0, :type :ok, :f :read, :value 1}":                  "no operation of a kafka or queue workload",
		"{:process 0, :type :ok, :f :send, :value [7]}":                "want [:send ...] or [:poll ...]",
		"{:process 0, :type :ok, :f :poll, :value [[:poll {:x [7]}]]}": "want [offset value], found 7",
		"5 6":                    "line 1: want a map for each operation",
		"{:a 1 :b}":              "a map with a key and no value",
		strings.Repeat("[", 100): "nested deeper than 64",
		"{:a}}":                  "a map with a key and no value",
		"\n\n)":                  "line 3: closed what was not open",
		`{:a "` + strings.Repeat("x", 1<<17) + `"}`: "longer than",
	} {
		if _, err := inMemory("jepsen", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}

func TestEDN(t *testing.T) {
	r := newEDN(strings.NewReader("nil true -5 +7 2N 1.5M x/y :a/b \"a\\n\\u0041\" \\c #{1 2} (1 [2]) {:a nil} #inst \"2020\" -x #_ 5 ^:m z ##Inf [1 #_ #_ 2 3] #a #_ 4 5 99999999999999999998N 1/3 #:n{:a 1} , ;end\n"))
	var got []string
	for {
		form, err := r.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%T %v", form, form))
	}
	want := []string{"<nil> <nil>", "bool true", "int64 -5", "int64 7", "int64 2", "float64 1.5", "foreign.symbol x/y", "foreign.keyword a/b", "string a\n\\u0041", `string \c`,
		"[]interface {} [1 2]", "[]interface {} [1 [2]]", "foreign.object [{a <nil>}]", "string 2020", "foreign.symbol -x", "foreign.symbol z", "foreign.symbol #Inf",
		"[]interface {} [1]", "int64 5", "foreign.symbol 99999999999999999998", "foreign.symbol 1/3", "foreign.object [{a 1}]"}
	if !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
}
