// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/internal/testenv"
)

// commands are the harness commands of a document: indented or fenced lines and `code`.
var commandPattern = regexp.MustCompile("(?m)(?:^ {4}|^|`)(?:go run \\./cmd/harness|harness) ([a-z][^`\\n]*)")

func documents(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../../*.md")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, file := range append(files, more...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[file] = string(text)
	}
	return texts
}

// TestDocumentsNameVerbsAndFlagsThatExist: a command in a document is one of ours.
func TestDocumentsNameVerbsAndFlagsThatExist(t *testing.T) {
	found := 0
	for file, text := range documents(t) {
		for _, match := range commandPattern.FindAllStringSubmatch(text, -1) {
			words := strings.Fields(strings.SplitN(match[1], "   ", 2)[0])
			verb := strings.TrimRight(words[0], ",")
			cmd, _, err := root().Find([]string{verb})
			if err != nil || cmd.Name() != verb {
				continue // prose, such as "harness is"
			}
			found++
			for _, word := range words[1:] {
				name, isFlag := strings.CutPrefix(word, "--")
				name, _, _ = strings.Cut(name, "=")
				if isFlag && name != "" && cmd.Flags().Lookup(name) == nil {
					t.Errorf("%s: harness %s has no flag --%s", file, verb, name)
				}
			}
		}
	}
	if found < 5 {
		t.Errorf("only %d commands found in the documents: the pattern is wrong", found)
	}
}

// TestFirstCommandOfTheReadme runs it as a newcomer does.
func TestFirstCommandOfTheReadme(t *testing.T) {
	testenv.Short(t, "the whole core catalogue")
	t.Chdir(t.TempDir())
	stdout, stderr, code := harness("run")
	if code != exitPass || !strings.Contains(stdout, "report.html") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
}

// TestLinksOfDocumentsLead: a file that a document links to is there.
func TestLinksOfDocumentsLead(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	for file, text := range documents(t) {
		for _, match := range link.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), match[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", file, match[1])
			}
		}
	}
}
