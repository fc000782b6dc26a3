// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// link is a dialer whose connections can be broken.
type link struct {
	lose   atomic.Int32 // so many answers are read and thrown away, and the connection with each
	mute   atomic.Bool  // answers are thrown away, the connection lives on
	refuse atomic.Bool  // no new connection

	mu   sync.Mutex
	open []net.Conn
}

func (l *link) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if l.refuse.Load() {
		return nil, &net.OpError{Op: "dial", Net: network, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = append(l.open, conn)
	return &wire{conn, l}, nil
}

func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, conn := range l.open {
		conn.Close()
	}
}

type wire struct {
	net.Conn
	link *link
}

func (w *wire) Read(into []byte) (int, error) {
	for {
		n, err := w.Conn.Read(into)
		if err != nil {
			return n, err
		}
		if w.link.lose.Load() > 0 {
			w.link.lose.Add(-1)
			w.Close()
			return 0, io.EOF
		}
		if !w.link.mute.Load() {
			return n, nil
		}
	}
}

func TestSocketsAreCut(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	s := newSockets((&net.Dialer{}).DialContext, 5*time.Second)
	kept, err := s.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	closed, err := s.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	if len(s.open) != 1 {
		t.Errorf("%d sockets open, want 1", len(s.open))
	}
	s.cut()
	s.cut()
	if _, err := kept.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("write after a cut: %v", err)
	}
	if _, err := s.Dial("tcp", listener.Addr().String()); err == nil {
		t.Error("a connection was opened after the cut")
	}
	if err := kept.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		t.Errorf("the client's close after a cut: %v", err)
	}
}

// A dial that is under way when the sockets are cut does not outlive them.
func TestCutDuringDial(t *testing.T) {
	began, finish := make(chan struct{}), make(chan struct{})
	near, far := net.Pipe()
	defer far.Close()
	s := newSockets(func(context.Context, string, string) (net.Conn, error) {
		close(began)
		<-finish
		return near, nil
	}, 5*time.Second)
	result := make(chan error)
	go func() {
		_, err := s.Dial("tcp", "x")
		result <- err
	}()
	<-began
	s.cut()
	close(finish)
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("dial: %v", err)
	}
	if _, err := near.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("the connection is still open: %v", err)
	}
}
