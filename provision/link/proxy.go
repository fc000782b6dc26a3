// SPDX-License-Identifier: Apache-2.0

package link

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"
)

// dialPatience bounds the way to the broker.
const dialPatience = 10 * time.Second

// Proxy forwards connections. Its methods may be called concurrently.
type Proxy struct {
	name, upstream string
	toxics         *toxics
	gates          map[string]*gate // by way
	accepting      sync.WaitGroup

	mu       sync.Mutex // guards what follows
	listener net.Listener
	address  string
	pairs    map[*pair]struct{}
	number   int
	closed   bool
}

// pair is a client's connection and the one to the broker.
type pair struct {
	client, broker net.Conn
	gone           chan struct{}
	once           sync.Once
}

// Open listens at an address (port 0 is any) and forwards to upstream.
func Open(name, listen, upstream string) (*Proxy, error) {
	p := &Proxy{name: name, upstream: upstream, address: listen, toxics: newToxics(name), gates: map[string]*gate{up: {}, down: {}}, pairs: map[*pair]struct{}{}}
	if err := p.listen(); err != nil {
		return nil, err
	}
	return p, nil
}

// Name says whose link it is.
func (p *Proxy) Name() string { return p.name }

// Address is where clients connect.
func (p *Proxy) Address() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.address
}

// Open is how many connections are open.
func (p *Proxy) Open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.pairs)
}

// listen begins to accept, at the address where it did before.
func (p *Proxy) listen() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil || p.closed {
		return nil
	}
	l, err := net.Listen("tcp", p.address)
	if err != nil {
		return fmt.Errorf("link %s: %w", p.name, err)
	}
	p.listener, p.address = l, l.Addr().String()
	p.accepting.Go(func() { p.accept(l) })
	return nil
}

func (p *Proxy) accept(l net.Listener) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		go p.forward(client)
	}
}

// forward connects a client to the broker. A client whose broker cannot be reached finds
// its connection closed, as it would by a forwarder.
func (p *Proxy) forward(client net.Conn) {
	broker, err := (&net.Dialer{Timeout: dialPatience}).Dial("tcp", p.upstream)
	if err != nil {
		client.Close()
		return
	}
	both := &pair{client: client, broker: broker, gone: make(chan struct{})}
	number, open := p.keep(both)
	if !open {
		both.close()
		return
	}
	var ways sync.WaitGroup
	ways.Add(2)
	p.toxics.start(fmt.Sprintf("%d up", number), up, &gated{client, p.gates[up], both.gone}, &ending{broker, ways.Done})
	p.toxics.start(fmt.Sprintf("%d down", number), down, &gated{broker, p.gates[down], both.gone}, &ending{client, ways.Done})
	ways.Wait()
	p.forget(both)
}

// ending tells once that a way has ended. The far side learns of it; what it still has to
// say the other way may come.
type ending struct {
	net.Conn
	once func()
}

func (e *ending) Close() error {
	if e.once == nil {
		return nil
	}
	e.once()
	e.once = nil
	if tcp, ok := e.Conn.(*net.TCPConn); ok {
		return tcp.CloseWrite()
	}
	return e.Conn.Close()
}

func (p *Proxy) keep(both *pair) (number int, open bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.listener == nil {
		return 0, false
	}
	p.pairs[both] = struct{}{}
	p.number++
	return p.number, true
}

func (p *Proxy) forget(both *pair) {
	both.close()
	p.mu.Lock()
	delete(p.pairs, both)
	p.mu.Unlock()
}

func (both *pair) close() {
	both.once.Do(func() {
		close(both.gone)
		both.client.Close()
		both.broker.Close()
	})
}

// reset ends both connections without the usual goodbye: what is unsent is dropped.
func (both *pair) reset() {
	for _, conn := range []net.Conn{both.client, both.broker} {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
	}
	both.close()
}

// end ends every connection. What a toxic keeps of them is for nobody any more.
func (p *Proxy) end(how func(*pair)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for both := range p.pairs {
		how(both)
	}
	clear(p.pairs)
}

// stopListening refuses new connections.
func (p *Proxy) stopListening() {
	p.mu.Lock()
	l := p.listener
	p.listener = nil
	p.mu.Unlock()
	if l != nil {
		l.Close()
		p.accepting.Wait()
	}
}

// Close ends everything, what is broken included.
func (p *Proxy) Close(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.stopListening()
	p.end((*pair).close)
	return p.toxics.clear(ctx)
}
