// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-720a3c77/harness/effects"
	"github.com/seed-720a3c77/harness/msg"
)

// store is the harness's store, as its worker sees it.
type store struct {
	*caller
	name string
}

var _ effects.Store = (*store)(nil)

func (s *store) Name() string { return s.name }

func (s *store) Begin(ctx context.Context, k effects.Key, worker string) (effects.Start, error) {
	a, err := s.ask(ctx, message{Kind: start, Key: &k, Text: worker})
	return effects.Start(a.N), err
}

func (s *store) Apply(ctx context.Context, k effects.Key, worker string) (effects.Result, error) {
	a, err := s.ask(ctx, message{Kind: apply, Key: &k, Text: worker})
	if a.Result == nil {
		return effects.Result{}, err
	}
	return *a.Result, err
}

func (s *store) Count(ctx context.Context, k effects.Key) (int, error) {
	a, err := s.ask(ctx, message{Kind: count, Key: &k})
	return a.N, err
}

// Each is not a worker's question.
func (s *store) Each(context.Context, string, func(msg.ID, int)) error {
	return fmt.Errorf("store of a worker: %w", errors.ErrUnsupported)
}

// Close does nothing: the harness closes its store.
func (s *store) Close() error { return nil }

// stored answers a question about the store.
func stored(ctx context.Context, s effects.Store, m message) message {
	a := message{Kind: answer, Call: m.Call}
	var err error
	switch m.Kind {
	case start:
		var begun effects.Start
		begun, err = s.Begin(ctx, *m.Key, m.Text)
		a.N = int(begun)
	case apply:
		var r effects.Result
		r, err = s.Apply(ctx, *m.Key, m.Text)
		a.Result = &r
	case count:
		a.N, err = s.Count(ctx, *m.Key)
	}
	if err != nil {
		a.Error = err.Error()
	}
	return a
}
