// SPDX-License-Identifier: Apache-2.0

package link

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/Shopify/toxiproxy/v2/stream"
	library "github.com/Shopify/toxiproxy/v2/toxics"
	"github.com/rs/zerolog"
)

// The ways of a link, as a toxic takes them.
const (
	up   = "upstream"
	down = "downstream"
)

// The kinds of toxic: those of the library, and the one of this package.
const (
	toxicLatency   = "latency"
	toxicBlackHole = "timeout" // with a timeout of 0 it only drops, and closes when it is removed
	toxicSlowClose = "slow_close"
	toxicLimit     = "harness_limit"
)

// toxics are what breaks the bytes of a proxy's connections.
type toxics struct {
	server     *toxiproxy.ApiServer
	collection *toxiproxy.ToxicCollection

	mu     sync.Mutex // guards what follows
	number int
	inUse  map[string]struct{}
}

func newToxics(name string) *toxics {
	library.Register(toxicLimit, new(limit))
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	proxy := toxiproxy.NewProxy(server, name, "", "") // never started: it only owns the collection
	return &toxics{server: server, collection: proxy.Toxics, inUse: map[string]struct{}{}}
}

// start copies one way of a connection, through every toxic, until it ends.
func (t *toxics) start(name, way string, from io.Reader, to io.WriteCloser) {
	direction := stream.Upstream
	if way == down {
		direction = stream.Downstream
	}
	t.collection.StartLink(t.server, name, from, to, direction)
}

// add puts a toxic into the way of every connection and returns what takes it out again.
// Both return when every open connection was changed.
func (t *toxics) add(ctx context.Context, kind, way string, attributes map[string]any) (func(context.Context) error, error) {
	t.mu.Lock()
	t.number++
	name := fmt.Sprintf("%s %s %d", kind, way, t.number)
	t.inUse[name] = struct{}{}
	t.mu.Unlock()
	text, err := json.Marshal(map[string]any{"name": name, "type": kind, "stream": way, "attributes": attributes})
	if err != nil {
		return nil, err
	}
	err = soon(ctx, func() error {
		_, err := t.collection.AddToxicJson(bytes.NewReader(text))
		return err
	})
	return func(ctx context.Context) error { return t.remove(ctx, name) }, err
}

func (t *toxics) remove(ctx context.Context, name string) error {
	t.mu.Lock()
	_, used := t.inUse[name]
	delete(t.inUse, name)
	t.mu.Unlock()
	if !used {
		return nil
	}
	return soon(ctx, func() error { return t.collection.RemoveToxic(context.WithoutCancel(ctx), name) })
}

// clear takes out what is left.
func (t *toxics) clear(ctx context.Context) error {
	return soon(ctx, func() error {
		t.collection.ResetToxics(context.WithoutCancel(ctx))
		return nil
	})
}

// changePatience bounds a change of all connections: one whose far side does not read any
// more cannot be changed before it ends.
const changePatience = 15 * time.Second

// soon waits for what the library does, but not for ever.
func soon(ctx context.Context, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	timer := time.NewTimer(changePatience)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return fmt.Errorf("a connection could not be changed for %s", changePatience)
	}
}

// limit lets Rate bytes a second through. The library's own counts in kilobytes and logs.
type limit struct {
	Rate int64 `json:"rate"`
}

// piece is the most that passes at once, so that a narrow way is even.
const piece = 100 * time.Millisecond

// Pipe implements the library's Toxic.
func (l *limit) Pipe(stub *library.ToxicStub) {
	for {
		select {
		case <-stub.Interrupt:
			return
		case c := <-stub.Input:
			if c == nil {
				stub.Close()
				return
			}
			if !l.pass(stub, c) {
				return
			}
		}
	}
}

// pass lets a chunk through piece by piece; false: it was interrupted, and the rest went
// through at once.
func (l *limit) pass(stub *library.ToxicStub, c *stream.StreamChunk) bool {
	most := int(max(1, l.Rate*int64(piece)/int64(time.Second)))
	for rest := c.Data; len(rest) > 0; {
		n := min(most, len(rest))
		timer := time.NewTimer(time.Duration(int64(n) * int64(time.Second) / l.Rate))
		select {
		case <-timer.C:
			stub.Output <- &stream.StreamChunk{Data: rest[:n], Timestamp: c.Timestamp}
			rest = rest[n:]
		case <-stub.Interrupt:
			timer.Stop()
			stub.Output <- &stream.StreamChunk{Data: rest, Timestamp: c.Timestamp}
			return false
		}
	}
	return true
}
