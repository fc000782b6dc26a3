// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"encoding/xml"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/checkers"
)

// hostile tries to leave every context that a report has.
const hostile = "\"'></script></style></title></svg><script>window.owned=1</script><img src=x onerror=window.owned=1>" +
	"]]>--><!-- {{.}} ${x} javascript:window.owned=1 | `code` **bold** [link](http://evil.example) @everyone\n# head\x1b[31m\x00"

// poison puts a text into every string of a value, whatever it is called.
func poison(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			v.SetString(text)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			poison(v.Elem(), text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				poison(v.Field(i), text)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			poison(v.Index(i), text)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			if v.Type().Elem().Kind() == reflect.String {
				v.SetMapIndex(reflect.ValueOf(text+k.String()), reflect.ValueOf(text))
			}
		}
	}
}

// poisoned is the sample with a text in every string but the names that decide what is drawn.
func poisoned(text string) *checkers.Results {
	results := sample()
	keep := slices.Clone(results.Runs)
	poison(reflect.ValueOf(results), text)
	for i := range results.Runs {
		r, was := &results.Runs[i], &keep[i]
		r.Timeline.Series = append(r.Timeline.Series, sample().Runs[2].Timeline.Series...)
		r.Latency = append(r.Latency, was.Latency...)
		for k := range r.Lives {
			for n := range r.Lives[k].Steps {
				r.Lives[k].Steps[n].Kind = life(17).Steps[n].Kind
			}
		}
	}
	return results
}

func TestHTMLShowsMarkupAsText(t *testing.T) {
	page := render(t, "html", poisoned(hostile))
	body := embedded.ReplaceAllString(page, "")
	for _, leak := range []string{"<script>window", "<img", "<!--", "]]>", "onerror=window.owned=1>", "{{.}} ${x}<"} {
		if strings.Contains(body, leak) {
			t.Errorf("the page contains %q", leak)
		}
	}
	if n := strings.Count(body, "<script"); n != strings.Count(body, `<script type="application/json"`) || n == 0 {
		t.Errorf("the page has %d scripts of data and others", n)
	}
	if !strings.Contains(body, "&lt;script&gt;window.owned=1&lt;/script&gt;") {
		t.Error("the text is not shown at all")
	}
	for _, href := range regexp.MustCompile(`(?:href|src)="([^"]*)"`).FindAllStringSubmatch(body, -1) {
		if !strings.HasPrefix(href[1], "#") && href[1] != "data:," {
			t.Errorf("the page leads to %q", href[1])
		}
	}
	for _, id := range regexp.MustCompile(`id="([^"]*)"`).FindAllStringSubmatch(body, -1) {
		if strings.ContainsAny(id[1], "&<> ") {
			t.Errorf("id %q", id[1])
		}
	}
}

func TestIDsOfAPageAreUnique(t *testing.T) {
	results := sample()
	results.Runs = append(results.Runs, results.Runs...)
	seen := map[string]bool{}
	page := embedded.ReplaceAllString(render(t, "html", results), "")
	for _, id := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if seen[id[1]] {
			t.Errorf("id %q is there twice", id[1])
		}
		seen[id[1]] = true
	}
	for _, href := range regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if !seen[href[1]] {
			t.Errorf("nothing has the id of #%s", href[1])
		}
	}
}

func TestMarkdownShowsMarkupAsText(t *testing.T) {
	text := render(t, "md", poisoned(hostile))
	for _, leak := range []string{"<script", "<img", "[link](", "**bold**", "://", "@everyone", "\n# head", "\x1b", "\x00"} {
		if strings.Contains(codeLines.ReplaceAllString(text, ""), leak) {
			t.Errorf("the text contains %q", leak)
		}
	}
	cells := regexp.MustCompile(`[^\\]\|`)
	want := 0
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		n := len(cells.FindAllString(line, -1))
		if want == 0 {
			want = n
		}
		if n != want {
			t.Errorf("%d cells, want %d: %s", n, want, line)
		}
	}
}

// codeLines are where a command is shown as code, which renders nothing.
var codeLines = regexp.MustCompile("(?m)^Reproduce: .*$")

func TestJUnitShowsMarkupAsText(t *testing.T) {
	text := render(t, "junit", poisoned(hostile))
	var back junitSuites
	if err := xml.Unmarshal([]byte(text), &back); err != nil {
		t.Fatalf("not well-formed: %v", err)
	}
	shown := strings.NewReplacer("\x1b", "�", "\x00", "�").Replace(hostile)
	if got := back.Suites[0].Cases[0].Name; got != "claim "+shown {
		t.Errorf("a claim is read back as %q", got)
	}
}

func TestTextKeepsControlCharactersOut(t *testing.T) {
	if text := render(t, "text", poisoned(hostile)); strings.ContainsAny(text, "\x1b\x00\r") {
		t.Error("a control character reaches the terminal")
	}
	if got := printable("a\u202eb\u2066c\u009b é"); got != "a�b�c� é" {
		t.Errorf("%q reaches the terminal", got)
	}
}
