// SPDX-License-Identifier: Apache-2.0

package link

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"time"
)

// echo is a server that sends back what it gets, behind a proxy.
func echo(t *testing.T) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				io.Copy(conn, conn)
			}()
		}
	}()
	p, err := Open("test", "127.0.0.1:0", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close(context.Background()) })
	return p
}

func dial(t *testing.T, p *Proxy) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", p.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	trip(t, conn, "hello")
	return conn
}

// trip sends a word and reads it back; it returns how long that took.
func trip(t *testing.T, conn net.Conn, word string) time.Duration {
	t.Helper()
	start := time.Now()
	if _, err := conn.Write([]byte(word)); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(word))
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != word {
		t.Fatalf("sent %q, got %q, %v", word, got, err)
	}
	return time.Since(start)
}

// answers tells whether a word comes back within a while.
func answers(t *testing.T, conn net.Conn, within time.Duration) bool {
	t.Helper()
	conn.SetReadDeadline(time.Now().Add(within))
	defer conn.SetReadDeadline(time.Time{})
	n, err := conn.Read(make([]byte, 1))
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		var late net.Error
		if !errors.As(err, &late) || !late.Timeout() {
			t.Fatal(err)
		}
	}
	return n > 0
}

func broken(t *testing.T) func(repair func(context.Context) error, err error) func() {
	return func(repair func(context.Context) error, err error) func() {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return func() {
			t.Helper()
			if err := repair(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := repair(t.Context()); err != nil {
				t.Fatalf("a second repair: %v", err)
			}
		}
	}
}

func TestDelay(t *testing.T) {
	for way, least := range map[string]time.Duration{"up": 50 * time.Millisecond, "down": 50 * time.Millisecond, "both": 100 * time.Millisecond} {
		p := echo(t)
		conn := dial(t, p)
		heal := broken(t)(p.Delay(t.Context(), way, 50*time.Millisecond, 0))
		if took := trip(t, conn, "late"); took < least {
			t.Errorf("%s: %s, want at least %s", way, took, least)
		}
		if took := trip(t, dial(t, p), "late"); took < least {
			t.Errorf("%s: a new connection took %s", way, took)
		}
		heal()
		trip(t, conn, "again")
	}
}

// TestHoldLosesNothing: a stream that is held half-way arrives whole, and so does its end.
func TestHoldLosesNothing(t *testing.T) {
	for _, way := range []string{"up", "down", "both"} {
		p := echo(t)
		conn := dial(t, p)
		heal := broken(t)(p.Hold(t.Context(), way))
		sent := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
		written := make(chan error, 1)
		go func() {
			_, err := conn.Write(sent)
			written <- errors.Join(err, conn.(*net.TCPConn).CloseWrite())
		}()
		if answers(t, conn, 100*time.Millisecond) {
			t.Fatalf("%s: something came through", way)
		}
		if p.Open() != 1 {
			t.Errorf("%s: %d connections", way, p.Open())
		}
		heal()
		got := make([]byte, len(sent))
		if _, err := io.ReadFull(conn, got); err != nil || !bytes.Equal(got, sent) {
			t.Errorf("%s: %v, or not the same bytes", way, err)
		}
		if err := <-written; err != nil {
			t.Errorf("%s: %v", way, err)
		}
	}
}

func TestDropEndsWithTheConnection(t *testing.T) {
	for _, way := range []string{"up", "down", "both"} {
		p := echo(t)
		conn := dial(t, p)
		heal := broken(t)(p.Drop(t.Context(), way))
		if _, err := conn.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if answers(t, conn, 50*time.Millisecond) {
			t.Errorf("%s: something came through", way)
		}
		heal()
		if _, err := conn.Read(make([]byte, 1)); err == nil {
			t.Errorf("%s: the connection lives on with a hole in it", way)
		}
		trip(t, dial(t, p), "new")
	}
}

func TestLimit(t *testing.T) {
	p := echo(t)
	conn := dial(t, p)
	heal := broken(t)(p.Limit(t.Context(), "up", 1000))
	if took := trip(t, conn, string(make([]byte, 150))); took < 150*time.Millisecond {
		t.Errorf("150 bytes at 1000 a second took %s", took)
	}
	heal()
	trip(t, conn, "again")
	if _, err := p.Limit(t.Context(), "up", 0); err == nil {
		t.Error("a limit of 0 was taken")
	}
}

func TestSlowClose(t *testing.T) {
	p := echo(t)
	conn := dial(t, p)
	heal := broken(t)(p.SlowClose(t.Context(), 100*time.Millisecond))
	start := time.Now()
	conn.(*net.TCPConn).CloseWrite()
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) || time.Since(start) < 100*time.Millisecond {
		t.Errorf("closed after %s: %v", time.Since(start), err)
	}
	heal()
}

func TestReset(t *testing.T) {
	p := echo(t)
	conn := dial(t, p)
	if err := p.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%v, want a reset", err)
	}
	if p.Open() != 0 {
		t.Errorf("%d connections", p.Open())
	}
	trip(t, dial(t, p), "new")
}

func TestCut(t *testing.T) {
	p := echo(t)
	conn, address := dial(t, p), p.Address()
	heal := broken(t)(p.Cut(t.Context()))
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the connection lives on")
	}
	if _, err := net.Dial("tcp", address); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("%v, want a refusal", err)
	}
	heal()
	if p.Address() != address {
		t.Errorf("back at %s, not at %s", p.Address(), address)
	}
	trip(t, dial(t, p), "new")
}

// TestAll: what is broken in several ways heals one by one.
func TestAll(t *testing.T) {
	p := echo(t)
	conn := dial(t, p)
	late := broken(t)(p.Delay(t.Context(), "both", time.Millisecond, 0))
	held := broken(t)(p.Hold(t.Context(), "down"))
	narrow := broken(t)(p.Limit(t.Context(), "up", 1<<20))
	late()
	if _, err := conn.Write([]byte("x")); err != nil || answers(t, conn, 50*time.Millisecond) {
		t.Fatalf("not held: %v", err)
	}
	narrow()
	held()
	if !answers(t, conn, 10*time.Second) {
		t.Error("what was held did not come")
	}
}

func TestBrokerThatIsNotThere(t *testing.T) {
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	p, err := Open("test", "127.0.0.1:0", gone.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close(context.Background())
	conn, err := net.Dial("tcp", p.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the connection lives without a broker")
	}
	if _, err := p.Hold(t.Context(), "sideways"); err == nil {
		t.Error("a way that is none was taken")
	}
}
