// SPDX-License-Identifier: Apache-2.0

package history

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write golden files anew")

// testdata/format1 is a run in format 1, and testdata/format1.jsonl what it says. The run
// is never written again: a later version that cannot read it is broken.

const (
	goldenRun  = "testdata/format1"
	goldenText = "testdata/format1.jsonl"
)

// goldenRows are enough for a second block.
const goldenRows = maxRows + 4

func recordGolden(t *testing.T, dir string) {
	t.Helper()
	started := time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
	r, err := Create(dir, Header{Run: "format1", Workload: "golden", Clock: "virtual", Started: started})
	if err != nil {
		t.Fatal(err)
	}
	s := mustSegment(t, r, "every kind/0")
	for k := NoKind + 1; k <= WorkerEnd; k++ {
		n := uint32(k)
		s.Append(&Event{
			Kind: k, T: int64(k) * 1000, Seq: uint64(k), Off: int64(k) - 10, D: int64(k) * 7, Until: -1, Producer: n % 3,
			Session: r.Intern(Sessions, "billing-0|billing|orders"), Place: r.Intern(Places, "orders|"+string(rune('0'+k%4))),
			Key: r.Intern(Keys, "ключ "+k.String()), Op: n, N: n, CRC: n * 2246822519, Text: r.Intern(Texts, "\"it\" broke\n"),
			Gen: 3, Attempt: uint16(k), Answer: 1, Class: 2, Flags: Flag(k), Verb: VerbCommit,
		})
	}
	many := mustSegment(t, r, "many")
	for _, e := range simple(goldenRows) {
		many.Append(&e)
	}
	child, err := Attach(dir, "child.1")
	if err != nil {
		t.Fatal(err)
	}
	s = mustSegment(t, child, "handler")
	s.Append(&Event{Kind: HandlerStart, T: 5, Session: child.Intern(Sessions, "of the child"), Key: child.Intern(Keys, "ключ audit")})
	for _, r := range []*Recording{child, r} {
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFormat1IsReadForever(t *testing.T) {
	run := mustOpen(t, goldenRun)
	if !run.Integrity.Complete() || len(run.Integrity.Findings) != 0 {
		t.Errorf("integrity = %+v", run.Integrity)
	}
	got := readAll(t, run, AllKinds)
	many := slices.DeleteFunc(slices.Clone(got), func(e Event) bool { return e.Task != 1 })
	want := simple(goldenRows)
	for i := range want {
		want[i].Task = 1
	}
	if !slices.Equal(many, want) {
		t.Error("the events of the second task are others")
	}
	if run.Header.Run != "format1" || run.Header.Started.Year() != 2025 {
		t.Errorf("header = %+v", run.Header)
	}
	var text []string
	for line := range strings.Lines(mustExport(t, run)) {
		if !strings.Contains(line, `"task":"many"`) && !strings.Contains(line, `"schema"`) {
			text = append(text, line)
		}
	}
	checkGolden(t, goldenText, strings.Join(text, ""))
}

func checkGolden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		mustWrite(t, path, []byte(got))
	}
	if want := string(mustRead(t, path)); got != want {
		t.Errorf("%s is\n%s\nwant\n%s", path, got, want)
	}
}

// TestSameEventsGiveSameBytes records the golden run again: what differs is the manifest alone.
func TestSameEventsGiveSameBytes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "format1")
	recordGolden(t, dir)
	if _, err := os.Stat(goldenRun); *update && os.IsNotExist(err) {
		if err := os.CopyFS(goldenRun, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob(filepath.Join(goldenRun, "*.seg"))
	if err != nil || len(files) != 5 {
		t.Fatalf("golden segments %q, %v", files, err)
	}
	for _, path := range files {
		if !bytes.Equal(mustRead(t, path), mustRead(t, filepath.Join(dir, filepath.Base(path)))) {
			t.Errorf("%s has other bytes now", filepath.Base(path))
		}
	}
}
