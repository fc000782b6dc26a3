// SPDX-License-Identifier: Apache-2.0

package link

import (
	"net"
	"sync"
)

// gate holds one way of all connections. A toxic of the library could not: what it keeps
// of a connection that has died meanwhile would keep the others waiting when it is removed.
type gate struct {
	mu   sync.Mutex // guards what follows
	held int
	open chan struct{} // closed when nobody holds any more; nil while nobody does
}

// hold closes the gate until release, which may be called twice.
func (g *gate) hold() (release func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held++; g.held == 1 {
		g.open = make(chan struct{})
	}
	return sync.OnceFunc(g.release)
}

func (g *gate) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held--; g.held == 0 {
		close(g.open)
		g.open = nil
	}
}

// pass returns when the gate is open, or the connection is gone.
func (g *gate) pass(gone <-chan struct{}) {
	g.mu.Lock()
	open := g.open
	g.mu.Unlock()
	if open == nil {
		return
	}
	select {
	case <-open:
	case <-gone:
	}
}

// gated is one end of a connection as its way reads it. The bytes that a held way has
// not taken wait in the kernel, which tells the sender to wait too; its end is held as well.
type gated struct {
	net.Conn
	gate *gate
	gone <-chan struct{}
}

func (r *gated) Read(into []byte) (int, error) {
	n, err := r.Conn.Read(into)
	r.gate.pass(r.gone)
	return n, err
}
