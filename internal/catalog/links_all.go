// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"errors"
	"time"

	"github.com/seed-720a3c77/harness/faults"
	"github.com/seed-720a3c77/harness/provision/link"
)

// links are several proxies that are broken and repaired as one.
type links struct {
	name    string
	proxies []*link.Proxy
}

var _ faults.Link = links{}

type repair = func(context.Context) error

// each breaks every proxy, or none.
func (l links) each(ctx context.Context, do func(*link.Proxy) (repair, error)) (repair, error) {
	var repairs []repair
	all := func(ctx context.Context) (err error) {
		for _, one := range repairs {
			err = errors.Join(err, one(ctx))
		}
		return err
	}
	for _, p := range l.proxies {
		one, err := do(p)
		if err != nil {
			return nil, errors.Join(err, all(context.WithoutCancel(ctx)))
		}
		repairs = append(repairs, one)
	}
	return all, nil
}

func (l links) Name() string { return l.name }

func (l links) Open() (n int) {
	for _, p := range l.proxies {
		n += p.Open()
	}
	return n
}

func (l links) Delay(ctx context.Context, way string, latency, jitter time.Duration) (repair, error) {
	return l.each(ctx, func(p *link.Proxy) (repair, error) { return p.Delay(ctx, way, latency, jitter) })
}

func (l links) Hold(ctx context.Context, way string) (repair, error) {
	return l.each(ctx, func(p *link.Proxy) (repair, error) { return p.Hold(ctx, way) })
}

func (l links) Drop(ctx context.Context, way string) (repair, error) {
	return l.each(ctx, func(p *link.Proxy) (repair, error) { return p.Drop(ctx, way) })
}

func (l links) Limit(ctx context.Context, way string, bytes int) (repair, error) {
	return l.each(ctx, func(p *link.Proxy) (repair, error) { return p.Limit(ctx, way, bytes) })
}

func (l links) SlowClose(ctx context.Context, late time.Duration) (repair, error) {
	return l.each(ctx, func(p *link.Proxy) (repair, error) { return p.SlowClose(ctx, late) })
}

func (l links) Reset(ctx context.Context) (err error) {
	for _, p := range l.proxies {
		err = errors.Join(err, p.Reset(ctx))
	}
	return err
}

func (l links) Cut(ctx context.Context) (repair, error) {
	return l.each(ctx, func(p *link.Proxy) (repair, error) { return p.Cut(ctx) })
}
