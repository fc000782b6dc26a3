// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
)

// HTTPClient is a client whose requests go to a recorder instead of a network. Each request
// is an operation of the schedule. Those that change something (all but GET, HEAD and
// OPTIONS) are effects of the event that is handled; one with an Idempotency-Key that was
// seen before is answered as then and is no new effect, as payment services do it. Nor is a
// PUT or DELETE that leaves a resource as the one before it did (RFC 9110, section 9.2.2).
// An event may have several effects, each at an address of its own: all that there are
// without faults have to come, once.
func (e Env) HTTPClient() *http.Client { return &http.Client{Transport: e.Transport()} }

// Transport is the round tripper of HTTPClient.
func (e Env) Transport() http.RoundTripper { return &transport{from: e.process} }

// Serve answers the requests of Env.HTTPClient, instead of an empty 200. A request is
// an effect if its answer is below 400.
func Serve(h http.Handler) Option {
	return func(c *config) { c.serve = h }
}

// HTTPEffect tells which event a request is an effect of, "" for none. Without it that is
// the event that is handled; a handler of batches needs it.
func HTTPEffect(id func(*http.Request) string) Option {
	return func(c *config) { c.effectOf = id }
}

type transport struct{ from *process }

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := readAll(r.Body)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	op := &operation{text: "http: " + r.Method + " " + r.URL.Path}
	if changes(r) {
		op.kind = opEffect
	}
	var answer *http.Response
	err = t.from.operate(r.Context(), op, func() error {
		answer = t.from.scene.world.http.answer(t.from, r, string(body)) //nolint:bodyclose // who asked closes it
		return nil
	})
	if err != nil {
		return nil, err
	}
	return answer, nil
}

func readAll(body io.ReadCloser) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	defer body.Close()
	return io.ReadAll(body)
}

func changes(r *http.Request) bool {
	return r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodOptions
}

// httpRecorder is the server that all processes of a scenario talk to.
type httpRecorder struct {
	config *config

	mu      sync.Mutex
	applied []request // in the order of their effects
	known   map[string]*httptest.ResponseRecorder
	latest  map[string]string // by address: the last PUT or DELETE
	used    bool
}

// request is an effect of an event. Each address it is sent to is another one.
type request struct{ event, address string }

func newHTTPRecorder(c *config) *httpRecorder {
	return &httpRecorder{config: c, known: map[string]*httptest.ResponseRecorder{}, latest: map[string]string{}}
}

// answer serves one request: the first with an idempotency key, or none.
func (h *httpRecorder) answer(p *process, r *http.Request, body string) *http.Response {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.used = true
	key := r.Header.Get("Idempotency-Key")
	if known := h.known[key]; known != nil && key != "" {
		return known.Result()
	}
	w := httptest.NewRecorder()
	if h.config.serve != nil {
		h.config.serve.ServeHTTP(w, r)
	}
	if w.Code < http.StatusBadRequest {
		h.known[key] = w
		if !h.repeats(r, body) {
			h.apply(p, r)
		}
	}
	return w.Result()
}

// repeats tells whether a request leaves its resource as the one before did.
func (h *httpRecorder) repeats(r *http.Request, body string) bool {
	if r.Method != http.MethodPut && r.Method != http.MethodDelete {
		return false
	}
	address, now := r.URL.String(), r.Method+" "+body
	before := h.latest[address]
	h.latest[address] = now
	return before == now
}

func (h *httpRecorder) apply(p *process, r *http.Request) {
	if id := h.effectOf(p, r); id != "" {
		h.applied = append(h.applied, request{id, r.Method + " " + r.URL.String()})
	}
}

func (h *httpRecorder) effectOf(p *process, r *http.Request) string {
	if h.config.effectOf != nil {
		return h.config.effectOf(r)
	}
	if c := p.callOf(r.Context()); c != nil && changes(r) {
		return c.batch[0].message.ID
	}
	return ""
}

// sighting is what the recorder shows.
func (h *httpRecorder) sighting() sighting {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := sighting{name: "http", counts: map[string]int{}, parts: map[string]int{}}
	times := map[request]int{}
	for _, r := range h.applied {
		if times[r]++; times[r] == 1 {
			s.parts[r.event]++
		}
		s.counts[r.event] = max(s.counts[r.event], times[r])
		s.order = append(s.order, r.event)
	}
	return s
}
