// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// brokenRun is two messages, a worker that dies between them, and another that does the first again.
func brokenRun() *Spacetime {
	return &Spacetime{
		Title: "blind.seed-1", About: "seed 1 breaks at-most-once", Replay: "harness run blind.seed-1.yaml --on inmem:kafka",
		Lanes: []string{"producers", "broker", "billing/0", "billing/1"},
		Marks: []SpacetimeMark{
			{AtNs: 0, Lane: 2, Kind: "born", Text: "starts"},
			{AtNs: ms, Lane: 0, ID: "p0/0", Kind: "message", Text: "p0/0 sent"},
			{AtNs: 2 * ms, Lane: 2, ID: "p0/0", Kind: "message", Text: "p0/0 delivered"},
			{AtNs: 3 * ms, Lane: 0, ID: "p0/1", Kind: "message", Text: "p0/1 sent"},
			{AtNs: 4 * ms, Lane: 1, Kind: "bad", Text: "!! kill billing/0"},
			{AtNs: 4 * ms, Lane: 2, Kind: "killed", Text: "killed"},
			{AtNs: 5 * ms, Lane: 3, Kind: "born", Text: "starts"},
			{AtNs: 9 * ms, Lane: 3, ID: "p0/0", Kind: "message", Text: "p0/0 delivered again"},
			{AtNs: 10 * ms, Lane: 3, ID: "p0/0", Kind: "bad", Text: "p0/0 effect 2"},
			{AtNs: 11 * ms, Lane: 3, Kind: "left", Text: "leaves"},
		},
	}
}

func drawSpacetime(t *testing.T, s *Spacetime) string {
	t.Helper()
	var b bytes.Buffer
	if err := SpacetimeHTML(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestSpacetimeIsAsItWas(t *testing.T) {
	got := drawSpacetime(t, brokenRun())
	path := filepath.Join("testdata", "spacetime.html")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("differs from %s at %s; look at it with -update and git diff", path, difference(got, string(want)))
	}
}

// TestSpacetimeStandsAlone: no script, nothing loaded, and what comes from outside is escaped.
func TestSpacetimeStandsAlone(t *testing.T) {
	s := brokenRun()
	s.Title, s.About, s.Lanes[2], s.Marks[2].Text = "<script>a</script>", "<script>b</script>", `"><script>c</script>`, `"><script>d</script>`
	s.Replay = "</code><script>e</script>"
	got := drawSpacetime(t, s)
	for _, bad := range []string{"<script", "http:", "https:", "src=", "@import"} {
		if strings.Contains(strings.ReplaceAll(got, "http-equiv", ""), bad) {
			t.Errorf("the page has %q", bad)
		}
	}
}

// TestSpacetimeDrawsLifeLines: a line from each mark of a message to its next, a dead lane
// dashed, a cross where something broke.
func TestSpacetimeDrawsLifeLines(t *testing.T) {
	v := newSpacetime(brokenRun())
	count := func(class string) (n int) {
		for _, l := range v.Lines {
			if strings.HasPrefix(l.Class, class) {
				n++
			}
		}
		return n
	}
	if lives, gone := count("life"), count("lane gone"); lives != 3 || gone != 4 {
		t.Errorf("%d life-lines and %d stretches of dead lanes, want 3 and 4", lives, gone)
	}
	crosses := 0
	for _, d := range v.Dots {
		if d.Cross {
			crosses++
		}
	}
	if crosses != 3 {
		t.Errorf("%d crosses, want 3: the kill, the killed, the effect done twice", crosses)
	}
}

func TestSpacetimeOfNothing(t *testing.T) {
	if got := drawSpacetime(t, &Spacetime{Title: "nothing"}); !strings.Contains(got, "Nothing happened") {
		t.Error("an empty drawing does not say so")
	}
}
