// SPDX-License-Identifier: Apache-2.0

package blackbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// hookPath is where the program tells its effects: POST {"id": ...} to
// http://127.0.0.1:PORT/effect/WORKER, or without a worker.
const hookPath = "/effect"

// Hook is a Source that the program calls: an HTTP server on loopback.
type Hook struct {
	listener net.Listener
	server   http.Server

	mu     sync.Mutex // guards what follows
	tell   Tell
	failed error
}

// NewHook listens; nothing is told before Look was called once.
func NewHook() (*Hook, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("%w: hook: %w", ErrEffects, err)
	}
	h := &Hook{listener: l}
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+hookPath, h.effect)
	mux.HandleFunc("POST "+hookPath+"/{worker}", h.effect)
	h.server = http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = h.server.Serve(l) }() // ends with Close
	return h, nil
}

// URL is where effects are posted to; a worker adds its number.
func (h *Hook) URL() string { return "http://" + h.listener.Addr().String() + hookPath }

// Look implements Source.
func (h *Hook) Look(_ context.Context, tell Tell) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tell = tell
	return h.failed
}

// Close implements Source.
func (h *Hook) Close() error {
	if err := h.server.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("%w: hook: %w", ErrEffects, err)
	}
	return nil
}

// effect answers only when the effect is recorded, so that a worker that is killed after
// the answer has had it for certain.
func (h *Hook) effect(w http.ResponseWriter, r *http.Request) {
	if err := h.take(r); err != nil {
		h.mu.Lock()
		if h.failed == nil {
			h.failed = err
		}
		h.mu.Unlock()
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (h *Hook) take(r *http.Request) error {
	worker := everybody
	if text := r.PathValue("worker"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return fmt.Errorf("%w: hook: no worker %s", ErrGarbage, quoted(text))
		}
		worker = n
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, longestLine))
	if err != nil {
		return nil //nolint:nilerr // the caller is gone: it told nothing
	}
	id, err := idOf(body)
	if err != nil {
		return fmt.Errorf("%w: hook: %s posted %s: %w", ErrGarbage, WorkerName(worker), quoted(string(body)), err)
	}
	h.mu.Lock()
	tell := h.tell
	h.mu.Unlock()
	if tell == nil {
		return fmt.Errorf("%w: hook: told before the run", ErrGarbage)
	}
	return tell.Happened(worker, id)
}
