// SPDX-License-Identifier: Apache-2.0

package blackbox

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// Poll is a Source that asks the program, or what stands behind it, by HTTP: GET gives
// {"ID": COUNT, ...}.
type Poll struct {
	URL    string
	Client http.Client
}

// largestAnswer bounds what is read of an answer.
const largestAnswer = 256 << 20

// Look implements Source.
func (p *Poll) Look(ctx context.Context, tell Tell) error {
	counts, err := p.ask(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrEffects, err)
	}
	for id, count := range counts {
		if err := tell.Stands(id, count); err != nil {
			return err
		}
	}
	return nil
}

func (p *Poll) ask(ctx context.Context) (map[string]int, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL, nil)
	if err != nil {
		return nil, err
	}
	answer, err := p.Client.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %s", p.URL, answer.Status)
	}
	counts := map[string]int{}
	if err := json.NewDecoder(io.LimitReader(answer.Body, largestAnswer)).Decode(&counts); err != nil {
		return nil, fmt.Errorf("GET %s: want {\"ID\": COUNT}: %w", p.URL, err)
	}
	return counts, nil
}

// Close implements Source.
func (p *Poll) Close() error {
	p.Client.CloseIdleConnections()
	return nil
}
