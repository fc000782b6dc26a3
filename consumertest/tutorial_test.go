// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const tutorial = "../docs/tutorial-consumertest.md"

// A step of the tutorial is a mark, and the block of code below it where there is one.
var tutorialStep = regexp.MustCompile("(?s)<!-- (file|output|passes): (.*?) -->\n(?:```\\w+\n(.*?)```)?")

// TestTutorial goes through the tutorial: its files are built and run, one state after
// another, and what it shows is what comes out.
func TestTutorial(t *testing.T) {
	before, err := os.ReadFile(tutorial)
	if err != nil {
		t.Fatal(err)
	}
	text, module := string(before), newLesson(t)
	var written strings.Builder
	for {
		at := tutorialStep.FindStringSubmatchIndex(text)
		if at == nil {
			break
		}
		what, arg := text[at[2]:at[3]], text[at[4]:at[5]]
		switch what {
		case "file":
			module.write(arg, text[at[6]:at[7]])
			written.WriteString(text[:at[1]])
		case "output":
			shown := module.fails(arg)
			module.replays(shown)
			written.WriteString(text[:at[6]] + shown + text[at[7]:at[1]])
		case "passes":
			module.passes(arg)
			written.WriteString(text[:at[1]])
		}
		text = text[at[1]:]
	}
	written.WriteString(text)
	module.passes("-v")
	switch {
	case *update:
		if err := os.WriteFile(tutorial, []byte(written.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	case written.String() != string(before):
		t.Errorf("the tutorial shows another output (go test ./consumertest -run Tutorial -update writes it):\n%s", written.String())
	}
}

// lesson is a module of a reader of the tutorial, with this module in place of a release.
type lesson struct {
	t   *testing.T
	dir string
}

const lessonModule = `module example.com/payments

go 1.26.0

require github.com/seed-720a3c77/harness v0.0.0

replace github.com/seed-720a3c77/harness => `

func newLesson(t *testing.T) *lesson {
	l := &lesson{t: t, dir: t.TempDir()}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	l.write("go.mod", lessonModule+root+"\n")
	l.write("go.sum", string(sums))
	return l
}

func (l *lesson) write(name, text string) {
	l.t.Helper()
	if err := os.WriteFile(filepath.Join(l.dir, name), []byte(text), 0o600); err != nil {
		l.t.Fatal(err)
	}
}

// run is go test in the reader's module.
func (l *lesson) run(args string) (output string, passed bool) {
	l.t.Helper()
	cmd := exec.CommandContext(l.t.Context(), "go", append([]string{"test", "-mod=mod", "-count=1"}, strings.Fields(args)...)...)
	cmd.Dir = l.dir
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

// fails is what a test that must fail prints: from the finding to the command.
func (l *lesson) fails(args string) string {
	l.t.Helper()
	out, passed := l.run(args)
	if passed {
		l.t.Errorf("go test %s passes, and is to fail:\n%s", args, out)
	}
	var shown strings.Builder
	for line := range strings.Lines(out) {
		if strings.Contains(line, "schedules:") || strings.HasPrefix(line, "FAIL") {
			break
		}
		shown.WriteString(line)
	}
	return tidied(shown.String())
}

// tidied has neither durations, numbers of lines nor spaces at the end of lines.
func tidied(output string) string {
	var text strings.Builder
	for line := range strings.Lines(output) {
		text.WriteString(strings.TrimRight(goLines.ReplaceAllString(took.ReplaceAllString(line, ""), "$1:N"), " \n") + "\n")
	}
	return strings.TrimRight(text.String(), "\n") + "\n"
}

var againLine = regexp.MustCompile(`again:  (go test .*)`)

// replays pastes the last line of a story into a shell, which tells the same story.
func (l *lesson) replays(shown string) {
	l.t.Helper()
	found := againLine.FindStringSubmatch(shown)
	if found == nil {
		l.t.Fatalf("no line to play it again in:\n%s", shown)
	}
	cmd := exec.CommandContext(l.t.Context(), "sh", "-c", found[1])
	cmd.Dir, cmd.Env = l.dir, append(os.Environ(), "GOFLAGS=-mod=mod")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(tidied(string(out)), shown) {
		l.t.Errorf("%s: %v\n%s\nwant\n%s", found[1], err, tidied(string(out)), shown)
	}
}

func (l *lesson) passes(args string) {
	l.t.Helper()
	if out, passed := l.run(args); !passed {
		l.t.Errorf("go test %s fails:\n%s", args, out)
	}
}

// TestTutorialNamesEveryPattern: a name that a test may print is in the table.
func TestTutorialNamesEveryPattern(t *testing.T) {
	source, err := os.ReadFile("pattern.go")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(tutorial)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range regexp.MustCompile(`name: "(.*)"`).FindAllSubmatch(source, -1) {
		inner := string(name[1]) == unnamed().name || string(name[1]) == harnessFailed().name
		if !inner && !strings.Contains(string(page), "| "+string(name[1])+" |") {
			t.Errorf("the tutorial does not name %q", name[1])
		}
	}
}
