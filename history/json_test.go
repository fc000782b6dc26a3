// SPDX-License-Identifier: Apache-2.0

package history

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func mustExport(t fataler, run *Run) string {
	var b strings.Builder
	if err := Export(run, &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestJSONRoundTrip imports what was exported, and exports it again.
func TestJSONRoundTrip(t *testing.T) {
	parent := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		r := NewMemory(Header{Run: "r1", Workload: "steady"})
		text := rapid.SampledFrom([]string{"a", "billing/0", "ключ", "\"\n\\", "\xff", "</script>"})
		for range rapid.IntRange(1, 3).Draw(t, "tasks") {
			s, err := r.Segment(text.Draw(t, "task"))
			if err != nil {
				t.Fatal(err)
			}
			for range rapid.IntRange(0, 10).Draw(t, "events") {
				e := drawEvent(t)
				e.Session = r.Intern(Sessions, text.Draw(t, "session"))
				e.Place, e.Key, e.Text = r.Intern(Places, "orders|0"), r.Intern(Keys, text.Draw(t, "key")), 0
				s.Append(&e)
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		want := mustExport(t, r.Run())
		n++
		dir := filepath.Join(parent, "run", string(rune('a'+n%26)))
		defer os.RemoveAll(dir)
		if err := Import(strings.NewReader(want), dir); err != nil {
			t.Fatalf("%v in\n%s", err, want)
		}
		run, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := mustExport(t, run); got != want {
			t.Fatalf("got\n%s\nwant\n%s", got, want)
		}
	})
}

func TestJSONForm(t *testing.T) {
	r := NewMemory(Header{})
	recordTwoTasks(t, r)
	got := strings.Split(mustExport(t, r.Run()), "\n")
	want := []string{
		`{"t":1,"task":"a","kind":"publish-start","id":"p0/0","attempt":0,"to":"orders|0","op":0,"size":100,"crc":4294967295,"late_ns":0}`,
		`{"t":1,"task":"b/0","kind":"delivery","id":"p0/0","attempt":0,"place":"orders|0","off":-1,"op":0,"delivery_count":0,"age_ns":0,"until_ns":0,"gen":0,"flags":["redelivered"]}`,
		`{"t":2,"task":"b/0","kind":"handler-start","id":"p0/0","op":0,"run":0}`,
		`{"t":3,"task":"a","kind":"publish-answer","id":"p0/9223372036854775808","attempt":0,"op":0,"answer":"none","class":"unclassed","off":0,"took_ns":0,"client_attempts":0,"error":"timed out"}`,
	}
	for i, line := range want {
		if got[i+1] != line {
			t.Errorf("line %d = %s\nwant %s", i+2, got[i+1], line)
		}
	}
	if !strings.HasPrefix(got[0], `{"schema":"harness.history/1","header":{`) || !strings.HasSuffix(got[0], `"tasks":["a","b/0"],"events":4}`) {
		t.Errorf("line 1 = %s", got[0])
	}
}

func TestJSONFieldsHaveOneMeaning(t *testing.T) {
	for k, form := range newJSONForms() {
		seen := map[string]bool{"t": true, "task": true, "kind": true}
		for _, field := range form {
			if seen[field.name] || field.column == noColumn && field.name != "id" {
				t.Errorf("%s: field %q twice, or of no column", Kind(k), field.name)
			}
			seen[field.name] = true
		}
		if k > 0 && len(form.String()) == 0 {
			t.Errorf("%s has no form", Kind(k))
		}
	}
}

func TestImportSaysWhatIsWrong(t *testing.T) {
	const head = `{"schema":"harness.history/1","header":{},"tasks":["a"]}` + "\n"
	const start = `{"t":1,"task":"a","kind":"receive"`
	for _, row := range []struct{ text, want string }{
		{"", "line 1: want {"},
		{"[]", "line 1: "},
		{`{"schema":"harness.history/2","header":{},"tasks":[]}`, `line 1: schema "harness.history/2"`},
		{`{"schema":"harness.history/1","tasks":[]}`, "line 1: want a header"},
		{`{"schema":"harness.history/1","header":{},"tasks":[],"more":1}`, `line 1: json: unknown field "more"`},
		{`{"schema":"harness.history/1","header":{"nonsense":1},"tasks":[]}`, `line 1: json: unknown field "nonsense"`},
		{`{"schema":"harness.history/1","header":{},"tasks":["a","a"]}`, `line 1: task "a" is listed twice`},
		{`{"schema":"harness.history/1","header":{},"tasks":["a"],"events":1}`, "line 1: the file ends after 0 events, but line 1 says 1"},
		{head + "nonsense", "line 2: not a JSON object"},
		{head + "\n" + start + "} {}", "line 3: more than one JSON object"},
		{head + start, "line 2: the object does not end"},
		{head + `{"t":1,"task":"a"}`, "line 2: kind: missing"},
		{head + `{"t":1,"task":"a","kind":"receved"}`, `line 2: unknown kind "receved" (there are publish-start, `},
		{head + `{"t":1,"task":"b","kind":"receive"}`, `line 2: task "b" is not listed in line 1`},
		{head + `{"task":"a","kind":"receive"}`, "line 2: t: missing"},
		{head + start + `,"t":2}`, `line 2: field "t" is there twice`},
		{head + start + `,"mesages":2}`, "line 2: receive: mesages: unknown field (there are session, messages, took_ns, class, error)"},
		{head + start + `,"messages":2.5}`, "line 2: receive: messages: want a whole number, found 2.5"},
		{head + start + `,"messages":4294967296}`, "line 2: receive: messages: 4294967296 is out of range"},
		{head + start + `,"messages":-1}`, "line 2: receive: messages: -1 is out of range"},
		{head + start + `,"class":"fine"}`, `line 2: receive: class: unknown word "fine" (there are unclassed, ok, `},
		{head + start + `,"flags":["bad"]}`, `line 2: receive: flags: unknown flag "bad"`},
		{head + start + `,"session":7}`, "line 2: receive: session: want a text, found 7"},
		{head + `{"t":1,"task":"a","kind":"audit","id":"0/1"}`, "line 2: audit: id: not a message id"},
		{head + start + `,"session":"` + strings.Repeat("x", maxJSONLine) + `"}`, "line 2: longer than 1048576 bytes"},
		{head + strings.Repeat("x", maxJSONHeader+1), "line 2: longer than 16777216 bytes"},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		err := Import(strings.NewReader(row.text), dir)
		if err == nil || !strings.HasPrefix(err.Error(), "history: "+row.want) {
			t.Errorf("Import(%.100q) = %v, want %q", row.text, err, row.want)
		}
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Import(%.100q) left its directory behind", row.text)
		}
	}
}

func TestWhatIsMissingStaysMissing(t *testing.T) {
	dir := recordOne(t, simple(maxRows+50), true)
	path := filepath.Join(dir, "000-task.seg")
	whole := mustRead(t, path)
	whole[len(whole)/2] ^= 1
	mustWrite(t, path, whole)
	want := mustOpen(t, dir).Integrity.Missing()
	exported := mustExport(t, mustOpen(t, dir))
	imported := filepath.Join(t.TempDir(), "run")
	if err := Import(strings.NewReader(exported), imported); err != nil {
		t.Fatal(err)
	}
	if got := mustOpen(t, imported).Integrity.Missing(); got != want || want == 0 {
		t.Errorf("missing %d, want %d", got, want)
	}
}

func FuzzImport(f *testing.F) {
	r := NewMemory(Header{Run: "r1"})
	recordTwoTasks(f, r)
	f.Add([]byte(mustExport(f, r.Run())))
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := filepath.Join(t.TempDir(), "run")
		if err := Import(bytes.NewReader(text), dir); err != nil {
			return
		}
		want := mustExport(t, mustOpen(t, dir))
		again := filepath.Join(t.TempDir(), "run")
		if err := Import(strings.NewReader(want), again); err != nil {
			t.Fatalf("%v in\n%s", err, want)
		}
		if got := mustExport(t, mustOpen(t, again)); got != want {
			t.Fatalf("got\n%s\nwant\n%s", got, want)
		}
	})
}
