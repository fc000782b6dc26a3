// SPDX-License-Identifier: Apache-2.0

package link

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ways are the toxics' words for both, up or down.
func ways(way string) ([]string, error) {
	switch way {
	case "both":
		return []string{up, down}, nil
	case "up":
		return []string{up}, nil
	case "down":
		return []string{down}, nil
	}
	return nil, fmt.Errorf("way %q: want both, up or down", way)
}

// put puts a toxic into each way, or into none.
func (p *Proxy) put(ctx context.Context, kind, way string, attributes map[string]any) (func(context.Context) error, error) {
	all, err := ways(way)
	if err != nil {
		return nil, err
	}
	var repairs []func(context.Context) error
	repair := func(ctx context.Context) (err error) {
		for _, one := range repairs {
			err = errors.Join(err, one(ctx))
		}
		return err
	}
	for _, one := range all {
		out, err := p.toxics.add(ctx, kind, one, attributes)
		repairs = append(repairs, out)
		if err != nil {
			return nil, fmt.Errorf("link %s: %w", p.name, errors.Join(err, repair(context.WithoutCancel(ctx))))
		}
	}
	return repair, nil
}

// Delay makes every byte late by latency, give or take jitter; both in milliseconds.
func (p *Proxy) Delay(ctx context.Context, way string, latency, jitter time.Duration) (func(context.Context) error, error) {
	return p.put(ctx, toxicLatency, way, map[string]any{"latency": latency.Milliseconds(), "jitter": jitter.Milliseconds()})
}

// Hold keeps every byte until the repair: none is lost, and connections live on.
func (p *Proxy) Hold(_ context.Context, way string) (func(context.Context) error, error) {
	all, err := ways(way)
	if err != nil {
		return nil, err
	}
	var releases []func()
	for _, one := range all {
		releases = append(releases, p.gates[one].hold())
	}
	return func(context.Context) error {
		for _, release := range releases {
			release()
		}
		return nil
	}, nil
}

// Drop loses every byte. The repair ends the connections that were open: their streams
// have a hole.
func (p *Proxy) Drop(ctx context.Context, way string) (func(context.Context) error, error) {
	return p.put(ctx, toxicBlackHole, way, map[string]any{"timeout": 0})
}

// Limit lets so many bytes a second through, on each connection.
func (p *Proxy) Limit(ctx context.Context, way string, bytes int) (func(context.Context) error, error) {
	if bytes < 1 {
		return nil, fmt.Errorf("link %s: %d bytes a second: want 1 or more", p.name, bytes)
	}
	return p.put(ctx, toxicLimit, way, map[string]any{"rate": bytes})
}

// SlowClose makes the end of a connection late, in milliseconds.
func (p *Proxy) SlowClose(ctx context.Context, late time.Duration) (func(context.Context) error, error) {
	return p.put(ctx, toxicSlowClose, "both", map[string]any{"delay": late.Milliseconds()})
}

// Reset ends every connection abruptly, on both sides; new ones are possible.
func (p *Proxy) Reset(context.Context) error {
	p.end((*pair).reset)
	return nil
}

// Cut ends every connection and refuses new ones.
func (p *Proxy) Cut(context.Context) (func(context.Context) error, error) {
	p.stopListening()
	p.end((*pair).close)
	return func(context.Context) error { return p.listen() }, nil
}
