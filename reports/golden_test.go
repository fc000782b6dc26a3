// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/checkers"
)

var update = flag.Bool("update", false, "write the goldens")

// render writes results in a format.
func render(t testing.TB, format string, results *checkers.Results) string {
	t.Helper()
	f, err := Find(format)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := f.Write(&b, results); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// embedded are the style sheet and the script, which no golden repeats.
var embedded = regexp.MustCompile(`(?s)<style>.*?</style>|<script>.*?</script>|content="default-src[^"]*"`)

func TestFormatsAreAsTheyWere(t *testing.T) {
	for _, f := range Formats() {
		t.Run(f.Name, func(t *testing.T) {
			got := render(t, f.Name, sample())
			if f.Name == "html" {
				got = strings.ReplaceAll(embedded.ReplaceAllString(got, "<!-- embedded -->"), "><", ">\n<")
			}
			path := filepath.Join("testdata", "sample."+f.Name)
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
				t.Errorf("%s differs from %s at %s; look at it with -update and git diff", f.Name, path, difference(got, string(want)))
			}
		})
	}
}

// difference is the first line that is not the same.
func difference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			return a[i]
		}
	}
	return "the end"
}

func TestOneResultIsOneText(t *testing.T) {
	for _, f := range Formats() {
		first := render(t, f.Name, sample())
		for range 20 {
			if again := render(t, f.Name, sample()); again != first {
				t.Fatalf("%s differs from itself at %s", f.Name, difference(again, first))
			}
		}
	}
}

func TestFindNamesTheNearestFormat(t *testing.T) {
	_, err := Find("htm")
	if err == nil || !strings.Contains(err.Error(), "html") || strings.Contains(err.Error(), "\n") {
		t.Errorf("Find(htm) = %v, want one line with html", err)
	}
}

func TestWriteAllLeavesNoHalfFile(t *testing.T) {
	dir := t.TempDir()
	written, err := WriteAll(dir, sample())
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(written) != 3 || len(entries) != 3 {
		t.Errorf("%d written, %d files, want 3: html, md and junit", len(written), len(entries))
	}
}

func TestMarkdownFitsIntoFortyLines(t *testing.T) {
	results := sample()
	for i := range 200 {
		r := violated()
		r.Workload = "crash-" + itoa(i)
		results.Runs = append(results.Runs, r)
	}
	text := render(t, "md", results)
	if n := strings.Count(text, "\n"); n > 40 || !strings.Contains(text, "more rows in report.html") || !strings.Contains(text, "more runs are not as expected") {
		t.Errorf("%d lines, want at most 40, and what is left out counted:\n%s", n, text)
	}
}

func TestARunOfAPageIsSmall(t *testing.T) {
	results := &checkers.Results{Schema: checkers.Schema}
	r := big()
	results.Runs = append(results.Runs, r)
	one := len(render(t, "html", results))
	results.Runs = append(results.Runs, r)
	two := len(render(t, "html", results))
	if budget := 400_000; two-one > budget || one > budget {
		t.Errorf("a page of one run has %d bytes, a second run adds %d, want at most %d", one, two-one, budget)
	}
}

// big is a run with everything at its limit.
func big() checkers.Result {
	r := violated()
	full := make([]*int64, 300)
	for i := range full {
		v := int64(i) * 987_654_321 % 1_000_003
		full[i] = &v
	}
	r.Timeline = checkers.Timeline{StepNs: 2 * sec}
	for _, panel := range []string{"rates", "lag", "latency", "duplicates"} {
		for _, name := range []string{"published", "acked", "received", "handled"} {
			r.Timeline.Series = append(r.Timeline.Series, checkers.Series{Panel: panel, Name: name, Unit: "msgs", Values: full})
		}
	}
	r.Anomalies = nil
	for range 20 {
		r.Anomalies = append(r.Anomalies, checkers.Anomaly{Name: "redelivered", Count: 10_000, Examples: findings(32)})
	}
	r.Lives = nil
	for seq := range uint64(6) {
		l := life(seq)
		for len(l.Steps) < 200 {
			l.Steps = append(l.Steps, l.Steps[2:14]...)
		}
		r.Lives = append(r.Lives, l)
	}
	return r
}
