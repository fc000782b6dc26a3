// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// verifyDoc has the story of each naive example as verify tells it, behind a comment with
// the example's name.
const verifyDoc = "../docs/verify.md"

// told is what verify says of a consumer: the pattern that it looks like, and the steps of
// the shortest story, without times, and numbers of workers and partitions, which are others each time.
type told struct {
	looksLike string
	steps     []string
}

var (
	block  = regexp.MustCompile("(?s)<!-- ([a-z-]+) naive -->\n\n((?:    [^\n]*\n)+)")
	step   = regexp.MustCompile(`^[0-9.]+[ \x{a0}](?:ns|µs|ms|s|min) +(.*)$`)
	number = regexp.MustCompile(`(consumer|work)/[0-9]+`)
)

// storyOf reads what verify said.
func storyOf(text string) (t told) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if like, _, is := strings.Cut(line, ":"); is && strings.HasPrefix(like, "looks like ") && t.looksLike == "" {
			t.looksLike = like
		}
		if found := step.FindStringSubmatch(line); found != nil {
			words := number.ReplaceAllString(found[1], "$1/N")
			t.steps = append(t.steps, strings.Join(strings.Fields(words), " "))
		}
	}
	return t
}

// missingIn is the first that was documented and not said, "" if all of it was.
func (t told) missingIn(said string) string {
	if !strings.Contains(said, t.looksLike+":") {
		return t.looksLike
	}
	steps := storyOf(said).steps
	for _, s := range t.steps {
		if !strings.HasSuffix(s, "is healed") && !slices.Contains(steps, s) { // the heal may come after the end of the story
			return s
		}
	}
	return ""
}

func documentedStories(t *testing.T) map[string]told {
	t.Helper()
	text, err := os.ReadFile(verifyDoc)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]told{}
	for _, found := range block.FindAllStringSubmatch(string(text), -1) {
		all[found[1]] = storyOf(found[2])
	}
	return all
}

// TestEveryExampleHasAStory: a pattern, and steps of which none was misread.
func TestEveryExampleHasAStory(t *testing.T) {
	documented := documentedStories(t)
	for _, example := range examples {
		if story := documented[example.name]; story.looksLike == "" || len(story.steps) < 3 {
			t.Errorf("%s: %+v", example.name, story)
		}
	}
}

func TestWhatIsNotSaidIsMissed(t *testing.T) {
	const said = "looks like no key: each of 10. To mend it: a key.\nthe shortest story, of p0/3:\n  1.96\u00a0s  producer  sent to work, attempt 1\n  2.53\u00a0s  fault     kill consumer/1\n"
	for text, want := range map[string]string{
		said: "",
		strings.ReplaceAll(said, "consumer/1", "consumer/0"):   "",
		strings.ReplaceAll(said, "1.96\u00a0s", "310\u00a0ms"): "",
		strings.ReplaceAll(said, "no key", "check-then-act"):   "looks like check-then-act",
		said + "  3.04\u00a0s  store  effect, number 2\n":      "store effect, number 2",
		strings.ReplaceAll(said, "attempt 1", "attempt 2"):     "producer sent to work, attempt 2",
	} {
		if got := storyOf(text).missingIn(said); got != want {
			t.Errorf("%q: missing %q, want %q", text, got, want)
		}
	}
}
