// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"errors"
	"io"
	"net"

	"github.com/IBM/sarama"
)

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

// ask is await for a request that may be made twice: one that meets a connection that
// died since it was last used is made again, on a new one.
func ask[T any](ctx context.Context, call func() (T, error)) (T, error) {
	return await(ctx, func() (T, error) {
		value, err := call()
		if died(err) {
			return call()
		}
		return value, err
	})
}

// died tells an error of a connection that is no more.
func died(err error) bool {
	var network *net.OpError
	return errors.Is(err, io.EOF) || errors.Is(err, sarama.ErrNotConnected) || errors.As(err, &network) && !network.Timeout()
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

// askDone is ask for a call that has nothing but an error.
func askDone(ctx context.Context, call func() error) error {
	_, err := ask(ctx, func() (struct{}, error) { return struct{}{}, call() })
	return err
}
