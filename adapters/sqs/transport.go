// SPDX-License-Identifier: Apache-2.0

package sqs

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/seed-720a3c77/harness/broker"
)

// link is the way of one producer, consumer or engine to the service: an SDK client on
// sockets of its own.
type link struct {
	sqs     *sqs.Client
	http    http.RoundTripper
	idle    func()
	timeout time.Duration // of one attempt; 0 leaves it to the context

	mu      sync.Mutex
	sockets map[net.Conn]struct{}
	severed bool
}

// newLink makes a client whose requests are attempted at most 1 + retries times.
func newLink(c Config, retries int, timeout time.Duration) *link {
	l := &link{sockets: map[net.Conn]struct{}{}, timeout: timeout}
	transport := awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		t.DialContext = l.dial
		// A client that pools fewer connections than it has requests dials all the time, and
		// one that keeps them long reuses what the far side has closed.
		t.MaxIdleConnsPerHost, t.MaxIdleConns, t.MaxConnsPerHost = 256, 0, 0
		t.IdleConnTimeout = 20 * time.Second
	}).GetTransport()
	l.http, l.idle = transport, transport.CloseIdleConnections
	if c.Transport != nil {
		l.http = c.Transport(transport)
	}
	l.sqs = sqs.New(sqs.Options{
		BaseEndpoint:     aws.String(c.Endpoint),
		Region:           c.Region,
		Credentials:      credentials.NewStaticCredentialsProvider(c.AccessKeyID, c.SecretAccessKey.Reveal(), ""),
		HTTPClient:       l,
		RetryMaxAttempts: 1 + retries,
	})
	return l
}

func (l *link) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.severed {
		conn.Close()
		return nil, broker.ErrClosed
	}
	l.sockets[conn] = struct{}{}
	return &socket{conn, l}, nil
}

// socket takes itself off its link's list.
type socket struct {
	net.Conn
	link *link
}

func (s *socket) Close() error {
	s.link.mu.Lock()
	delete(s.link.sockets, s.Conn)
	s.link.mu.Unlock()
	return s.Conn.Close()
}

// sever cuts every socket under the client, as a crash of its process does.
func (l *link) sever() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.severed = true
	for conn := range l.sockets {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // a dead process's kernel resets what was unread
		}
		conn.Close()
	}
	clear(l.sockets)
}

// close gives idle sockets back; a poll that still runs keeps its own until it ends.
func (l *link) close() { l.idle() }

// attemptsKey finds the counter of attempts in a request's context.
type attemptsKey struct{}

// counted makes a context in which the attempts of one call are counted.
func counted(ctx context.Context) (context.Context, *atomic.Int32) {
	n := new(atomic.Int32)
	return context.WithValue(ctx, attemptsKey{}, n), n
}

// Do is one attempt. It follows no redirect and keeps no cookie.
func (l *link) Do(r *http.Request) (*http.Response, error) {
	if n, ok := r.Context().Value(attemptsKey{}).(*atomic.Int32); ok {
		n.Add(1)
	}
	if l.timeout == 0 {
		return l.http.RoundTrip(r)
	}
	ctx, cancel := context.WithTimeout(r.Context(), l.timeout)
	answer, err := l.http.RoundTrip(r.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, err
	}
	answer.Body = &timedBody{answer.Body, cancel}
	return answer, nil
}

// timedBody ends its attempt's time when it is closed.
type timedBody struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b *timedBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}
