// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/history"
)

// imported is the run of files that are given as text.
func imported(t *testing.T, format string, files ...string) *history.Run {
	t.Helper()
	run, err := inMemory(format, files...)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func inMemory(format string, files ...string) (*history.Run, error) {
	f, err := Named(format)
	if err != nil {
		return nil, err
	}
	var inputs []Input
	for i, text := range files {
		inputs = append(inputs, Input{fmt.Sprint("file", i), strings.NewReader(text)})
	}
	recording := history.NewMemory(history.Header{Run: f.Name})
	if err := f.into(recording, inputs); err != nil {
		return nil, err
	}
	return recording.Run(), nil
}

// verdict is what the checkers say of a run, in one line: what was published, every finding
// with its ids, and the claims.
func verdict(t *testing.T, run *history.Run) string {
	t.Helper()
	result, err := checkers.Check(run)
	if err != nil {
		t.Fatal(err)
	}
	words := []string{fmt.Sprintf("%d acked %d unknown %d rejected", result.Counts["acked"], result.Counts["unknown"], result.Counts["rejected"])}
	for i := range result.Anomalies {
		words = append(words, findings(&result.Anomalies[i])...)
	}
	for _, c := range result.Claims {
		if c.Name != "integrity" && c.Name != "contract" || c.Verdict.String() == "violated" {
			words = append(words, c.Name+" "+c.Verdict.String())
		}
	}
	return strings.Join(words, "; ")
}

func findings(a *checkers.Anomaly) []string {
	if a.Count == 0 {
		return nil
	}
	var ids []string
	for i := range a.Examples {
		ids = append(ids, a.Examples[i].ID.String())
	}
	slices.Sort(ids)
	return []string{a.Name + " " + strings.Join(ids, " ")}
}

// told lists the events of a run: millisecond, kind and id.
func told(t *testing.T, run *history.Run) (lines []string) {
	t.Helper()
	err := run.Each(history.AllKinds, func(e *history.Event) {
		lines = append(lines, fmt.Sprintf("%d %s %s", e.T/1e6, e.Kind, e.ID()))
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func TestWhatCannotBeReadLeavesNoRun(t *testing.T) {
	for _, f := range Formats() {
		dir := filepath.Join(t.TempDir(), "run")
		err := f.Read([]Input{{"nonsense", strings.NewReader("nonsense\n\x00\n{}\n")}}, dir)
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want an error of one line", f.Name, err)
		}
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("%s: %v, want no directory", f.Name, err)
		}
		if err := f.Read(nil, dir); err == nil {
			t.Errorf("%s: no files, and no error", f.Name)
		}
	}
}

func TestFormatsAreNamed(t *testing.T) {
	for _, f := range Formats() {
		if got, err := Named(f.Name); err != nil || got.Name != f.Name || f.About == "" {
			t.Errorf("%s: %v %v", f.Name, got, err)
		}
	}
	if _, err := Named("jepson"); err == nil || !strings.Contains(err.Error(), `"jepsen"`) {
		t.Errorf("%v, want the nearest name", err)
	}
}

// TestARunOfItsOwnDirectory: what was imported is opened and judged like any run.
func TestARunOfItsOwnDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history.edn")
	if err := os.WriteFile(file, []byte(jepsenLog), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Named("jepsen")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "run")
	if err := f.Import([]string{file}, dir); err != nil {
		t.Fatal(err)
	}
	run, err := history.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := verdict(t, run), verdict(t, imported(t, "jepsen", jepsenLog)); got != want {
		t.Errorf("%s\nfrom memory: %s", got, want)
	}
	if run.Header.Tool != "imported" || !run.Integrity.Complete() {
		t.Errorf("header %+v, integrity %+v", run.Header, run.Integrity)
	}
	if err := f.Import([]string{file}, dir); err == nil {
		t.Error("a directory that exists was written over")
	}
}

// TestOwnLinesMustBeInOrder: what was exported is taken back, the same lines reversed are
// refused in one line, and nothing is left of them.
func TestOwnLinesMustBeInOrder(t *testing.T) {
	const head = `{"schema":"harness.history/1","header":{},"tasks":["a","b"]}` + "\n"
	event := func(at int, task string) string {
		return fmt.Sprintf("{\"t\":%d,\"task\":%q,\"kind\":\"receive\"}\n", at, task)
	}
	jsonl, err := Named("jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ text, want string }{
		"in order":                {head + event(1, "a") + event(2e9, "a"), ""},
		"tasks one by one":        {head + event(1, "a") + event(2e9, "a") + event(3, "b"), ""},
		"reversed":                {head + event(2e9, "a") + event(1, "a"), "event 2 at 1 ns comes after one of the same task at 2000000000 ns"},
		"a little late on a wall": {head + event(2e6, "a") + event(1e6, "a"), ""},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		err := jsonl.Read([]Input{{"file", strings.NewReader(c.text)}}, dir)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if _, left := os.Stat(dir); (left == nil) != (err == nil) {
			t.Errorf("%s: error %v, directory %v", name, err, left)
		}
	}
}
