// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"slices"
	"strings"
	"testing"
)

// tabs makes lines whose fields are apart by tabs, from lines apart by spaces. A last line
// without its end stays one.
func tabs(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimLeft(text, "\n")) {
		b.WriteString(strings.Join(strings.Fields(line), "\t"))
		if strings.HasSuffix(line, "\n") {
			b.WriteByte('\n')
		}
	}
	return strings.TrimRight(b.String(), "\t")
}

const redpandaWriter = `
	1 1731159021783000 started n1 producing
	1 10 msg 0
	1 5 ok 100
	1 10 msg 1
	1 5 ok 101`

func TestRedpanda(t *testing.T) {
	cases := []struct {
		name  string
		files []string
		want  string
	}{
		{"all is well",
			[]string{redpandaWriter, `
				2 1731159021783000 started n2 consuming
				2 100 read 0 100 n1 0
				2 1 read 0 101 n1 1
				2 1 commit 0 102
				2 1 ok`},
			"2 acked 0 unknown 0 rejected; at-least-once pass"},
		{"an error and a timeout are unknown",
			[]string{redpandaWriter + `
				1 10 msg 2
				1 5 err
				1 10 msg 3
				1 5 time
				1 10 msg 4`, `
				2 1731159021783000 started n2 consuming
				2 100 read 0 100 n1 0
				2 1 read 0 101 n1 1
				2 1 read 0 102 n1 3`},
			"2 acked 3 unknown 0 rejected; recovered p0/3; at-least-once inconclusive"},
		{"a hole below the position",
			[]string{redpandaWriter + `
				1 10 msg 2
				1 5 ok 102`, `
				2 1731159021783000 started n2 consuming
				2 100 read 0 100 n1 0
				2 1 read 0 102 n1 2
				2 1 commit 0 103
				2 1 ok`},
			"3 acked 0 unknown 0 rejected; lost-undelivered p0/1; lost-write p0/1; poll-skip p0/1; at-least-once violated; contract violated"},
		{"a key, a partition",
			[]string{`
				1 1731159021783000 started n1 producing
				1 10 msg 2 0
				1 5 ok 7
				1 10 msg k1 1
				1 5 ok 8`, `
				2 1731159021783000 started n2 consuming
				2 100 read 2 7 n1 0
				2 1 read 0 8 n1 1`},
			"2 acked 0 unknown 0 rejected; at-least-once pass"},
		{"a producer's transactions", []string{`
				1 1731159021783000 started n1 producing
				1 10 tx
				1 10 msg 0
				1 5 cmt
				1 5 ok 100
				1 10 tx
				1 10 msg 1
				1 5 brt
				1 5 ok
				1 10 tx
				1 10 msg 2
				1 5 cmt
				1 5 err`, `
				2 1731159021783000 started n2 consuming
				2 100 read 0 100 n1 0
				2 1 read 0 101 n1 1`},
			"1 acked 1 unknown 1 rejected; phantom p0/1; at-least-once inconclusive; integrity violated"},
		{"an input whose transaction timed out, and was committed all the same", []string{streaming(`
				3 10 read 100 n1 0 0
				3 0 tx
				3 5 cmt
				3 30000000 time
				3 0 constructing
				3 5 constructed
				3 10 read 100 n1 0 0
				3 0 tx
				3 5 cmt
				3 5 ok
				4 5 seen 7 n9 n1 0 0
				4 5 seen 9 n9 n1 0 0`), redpandaWriter},
			"2 acked 0 unknown 0 rejected; effect-duplicates p0/0; zombie-effect p0/0; redelivered p0/0; undrained p0/1; at-least-once inconclusive; effectively-once violated"},
		{"an output that a second consumer sees is no second effect", []string{streaming(`
				3 10 read 100 n1 0 0
				3 5 cmt
				3 5 ok
				4 5 seen 7 n9 n1 0 0
				5 5 seen 7 n9 n1 0 0`), redpandaWriter},
			"2 acked 0 unknown 0 rejected; undrained p0/1; at-least-once inconclusive; effectively-once inconclusive"},
		{"an output of an input that nobody is known to have read", []string{redpandaWriter, `
				4 1731159021783000 started n8 consuming
				4 100 seen 7 n9 n1 0 1`},
			"2 acked 0 unknown 0 rejected; lost-write p0/0; undrained p0/0; at-least-once inconclusive; effectively-once inconclusive"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var files []string
			for _, text := range c.files {
				files = append(files, tabs(text))
			}
			if got := verdict(t, imported(t, "redpanda-chaos", files...)); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

// streaming is a node that makes outputs of inputs, and two that look at them.
func streaming(lines string) string {
	return `
		3 1731159021783000 started n9 streaming
		4 0 started n8 consuming
		5 0 started n7 consuming` + lines
}

// TestRedpandaTimes: a line counts from the one before, the first from nothing; thread -1
// tells of faults.
func TestRedpandaTimes(t *testing.T) {
	run := imported(t, "redpanda-chaos", tabs(`
		1 1731159021783000 started n1 producing
		1 2000 msg 0
		-1 1000 event injecting
		-1 4000 event injected
		1 3000 ok 5
		-1 1000 event healed
		1 1000 violation something
		1 12 ms`))
	want := []string{"0 session-open p0/0", "2 publish-start p0/0", "3 fault-requested p0/0", "7 fault-active p0/0", "10 publish-answer p0/0", "11 fault-healed p0/0", "12 session-close p0/0", "12 drained p0/0"}
	if got := told(t, run); !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
	if len(run.Header.Faults) != 1 || !slices.Contains(run.Header.Notes, "the tool itself found: something") {
		t.Errorf("faults %v, notes %q", run.Header.Faults, run.Header.Notes)
	}
}

func TestRedpandaRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"1 5 dance\n": `line 1: unknown command "dance"`,
		"1 5 started n1 producing\n1 5\n1 5 msg 0":        "want thread, microseconds and command",
		"1 5 started n1 producing\n1 5 msg x\n":           `line 2: want a number, found "x"`,
		"2 5 started n1 consuming\n2 5 read 1 2\n":        "line 2: read wants 4 arguments, found 2",
		"1 5 started n1 producing\n1 -5 msg 0\n1 5 msg 1": `line 2: want microseconds since the line before, found "-5"`,
	} {
		if _, err := inMemory("redpanda-chaos", tabs(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
