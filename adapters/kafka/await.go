// SPDX-License-Identifier: Apache-2.0

package kafka

import "context"

// await gives a call of the client, which knows no context, the deadline of one. A call
// that is left behind ends by the client's own time-outs.
func await[T any](ctx context.Context, call func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	answered := make(chan answer, 1)
	go func() {
		value, err := call()
		answered <- answer{value, err}
	}()
	select {
	case a := <-answered:
		return a.value, a.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// gone tells whether a channel that says so was closed.
func gone(closed <-chan struct{}) bool {
	select {
	case <-closed:
		return true
	default:
		return false
	}
}

// awaitDone is await for a call that has nothing but an error.
func awaitDone(ctx context.Context, call func() error) error {
	_, err := await(ctx, func() (struct{}, error) { return struct{}{}, call() })
	return err
}
