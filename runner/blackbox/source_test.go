// SPDX-License-Identifier: Apache-2.0

package blackbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// told counts what a source tells; the ids a, b and c are of the run.
type told map[string]int

func (m told) Happened(worker int, id string) error {
	if !strings.Contains("abc", id) {
		return fmt.Errorf("%w: %q", ErrGarbage, id)
	}
	m[id]++
	return nil
}

func (m told) Before(id string) error {
	if strings.Contains("abc", id) {
		return fmt.Errorf("%w: %q", ErrUsed, id)
	}
	return nil
}

func (m told) Stands(id string, count int) error {
	m[id] = count
	return nil
}

func want(t *testing.T, got told, want map[string]int) {
	t.Helper()
	if !maps.Equal(got, want) {
		t.Errorf("told %v, want %v", got, want)
	}
}

func TestIDOfALine(t *testing.T) {
	for line, want := range map[string]string{
		`{"id":"a"}`: "a", `{"id": 17, "at": 3}`: "17", `{"id":"a","more":{"id":"b"}}`: "a",
		`{"id":"a"`: "", `{}`: "", `{"id":null}`: "", `{"id":["a"]}`: "", `nonsense`: "", `{"id":"a"} {"id":"b"}`: "", `[1]`: "",
	} {
		got, err := idOf([]byte(line))
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v; want %q", line, got, err, want)
		}
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "effects.jsonl")
	if err := NewFile(path).Look(t.Context(), told{}); !errors.Is(err, ErrEffects) {
		t.Errorf("a file that is not there: %v", err)
	}
	write := func(text string) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"id":"of another run"}` + "\n")
	f, got := NewFile(path), told{}
	for _, part := range []string{`{"id":"a"}` + "\n", "\n" + `{"id":"a"}` + "\n" + `{"id":`, `"b"}` + "\n"} {
		write(part)
		if err := f.Look(t.Context(), got); err != nil {
			t.Fatal(err)
		}
	}
	want(t, got, map[string]int{"a": 2, "b": 1})
	write("oops\n")
	if err := f.Look(t.Context(), got); !errors.Is(err, ErrGarbage) || !strings.Contains(err.Error(), `line 5 is "oops"`) {
		t.Errorf("garbage: %v", err)
	}
	if err := os.Truncate(path, 3); err != nil {
		t.Fatal(err)
	}
	if err := f.Look(t.Context(), got); !errors.Is(err, ErrEffects) {
		t.Errorf("a file that became shorter: %v", err)
	}
}

func TestStdout(t *testing.T) {
	s, got := new(Stdout), told{}
	w := s.lines(1, got)
	for _, part := range []string{"connecting\n{\"id\"", ":\"a\"}\nnot {json}\n", `{"id":"b"}`} {
		if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatalf("write: %d, %v", n, err)
		}
	}
	want(t, got, map[string]int{"a": 1}) // what has no line end is not whole
	if err := s.Look(t.Context(), got); err != nil {
		t.Error(err)
	}
	fmt.Fprintln(w, "\n{garbage")
	if err := s.Look(t.Context(), got); !errors.Is(err, ErrGarbage) || !strings.Contains(err.Error(), `consumer/1 wrote "{garbage"`) {
		t.Errorf("garbage: %v", err)
	}
}

func TestALineWithoutAnEndFillsNoMemory(t *testing.T) {
	w := &lineWriter{whole: func([]byte) { t.Error("a line without an end") }}
	part := bytes.Repeat([]byte("x"), 64<<10)
	for range 64 {
		if _, err := w.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	if len(w.part) > longestLine {
		t.Errorf("%d bytes are kept", len(w.part))
	}
}

func TestHook(t *testing.T) {
	h, err := NewHook()
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	post := func(path, body string) int {
		t.Helper()
		answer, err := http.Post(h.URL()+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	got := told{}
	if err := h.Look(t.Context(), got); err != nil {
		t.Fatal(err)
	}
	if a, b := post("/0", `{"id":"a"}`), post("", `{"id":"b"}`); a != http.StatusNoContent || b != a {
		t.Errorf("answers %d and %d", a, b)
	}
	want(t, got, map[string]int{"a": 1, "b": 1})
	if err := h.Look(t.Context(), got); err != nil {
		t.Error(err)
	}
	if code := post("/0", `{"id":"zzz"}`); code != http.StatusBadRequest {
		t.Errorf("a foreign id is answered with %d", code)
	}
	if err := h.Look(t.Context(), got); !errors.Is(err, ErrGarbage) {
		t.Errorf("a foreign id: %v", err)
	}
}

func TestPoll(t *testing.T) {
	body, code := `{"a":2,"b":1}`, http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		fmt.Fprint(w, body)
	}))
	defer server.Close()
	p, got := &Poll{URL: server.URL}, told{}
	defer p.Close()
	if err := p.Look(t.Context(), got); err != nil {
		t.Fatal(err)
	}
	want(t, got, map[string]int{"a": 2, "b": 1})
	body = "[]"
	if err := p.Look(t.Context(), got); !errors.Is(err, ErrEffects) {
		t.Errorf("another form: %v", err)
	}
	code = http.StatusInternalServerError
	if err := p.Look(t.Context(), got); !errors.Is(err, ErrEffects) || !strings.Contains(err.Error(), "500") {
		t.Errorf("an error of the server: %v", err)
	}
	if err := (&Poll{URL: "http://127.0.0.1:1"}).Look(context.Background(), got); !errors.Is(err, ErrEffects) {
		t.Errorf("nobody there: %v", err)
	}
}
