// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestServeAndHTTPEffect: what the user's server refuses is no effect, and of which event
// another is, the user's function says.
func TestServeAndHTTPEffect(t *testing.T) {
	c := new(config)
	Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/refused" {
			w.WriteHeader(http.StatusConflict)
		}
	}))(c)
	HTTPEffect(func(r *http.Request) string { return r.URL.Query().Get("event") })(c)
	h := newHTTPRecorder(c)
	for _, row := range []struct {
		url  string
		code int
	}{
		{"http://shop.example/charged?event=p0/0", http.StatusOK}, {"http://shop.example/refused?event=p0/1", http.StatusConflict},
		{"http://shop.example/charged?event=p0/0", http.StatusOK}, {"http://shop.example/pinged", http.StatusOK},
	} {
		answer := h.answer(new(process), httptest.NewRequest(http.MethodPost, row.url, nil), "")
		if answer.Body.Close(); answer.StatusCode != row.code {
			t.Errorf("%s: %d, want %d", row.url, answer.StatusCode, row.code)
		}
	}
	if got, want := h.sighting().counts, map[string]int{"p0/0": 2}; !maps.Equal(got, want) {
		t.Errorf("effects %v, want %v", got, want)
	}
}
