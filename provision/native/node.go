// SPDX-License-Identifier: Apache-2.0

package native

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-720a3c77/harness/provision"
)

// Node is the broker process of one engine. It reads the state at every call, so it follows
// the broker through restarts, whoever made them.
type Node struct {
	recipe recipe
	corner corner
}

var _ provision.Node = (*Node)(nil)

// errNoNode means that nothing is known about the broker: Down was called, or never Up.
var errNoNode = errors.New("no such node: the broker was taken down")

// Name returns for example "native/kafka/1".
func (n *Node) Name() string { return name + "/" + n.corner.engine + "/1" }

// PID is the id of the broker process, 0 when it does not run.
func (n *Node) PID() int {
	if _, p, err := n.find(); err == nil && p.Alive() {
		return p.PID
	}
	return 0
}

// Kill ends the broker and its process group with SIGKILL; its data stays.
func (n *Node) Kill(ctx context.Context) error {
	_, p, err := n.find()
	if err != nil {
		return err
	}
	return n.wrap("kill", p.kill(ctx))
}

// Freeze stops the broker's process group with SIGSTOP and returns when it stands still.
func (n *Node) Freeze(ctx context.Context) error {
	return n.send(ctx, "freeze", func(p process) error {
		p.Freeze()
		return until(ctx, func() bool { return p.Stopped() || !p.Alive() })
	})
}

// Thaw lets a frozen broker go on with SIGCONT. It is harmless on one that is not frozen.
func (n *Node) Thaw(ctx context.Context) error {
	return n.send(ctx, "thaw", func(p process) error {
		p.Thaw()
		return until(ctx, func() bool { return !p.Stopped() })
	})
}

// Restart kills the broker if it runs and starts it again with its data, at its ports.
// LocalStack keeps queues and messages in memory: it comes back empty.
func (n *Node) Restart(ctx context.Context) error {
	unlock, err := n.corner.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	s, p, err := n.find()
	if err != nil {
		return err
	}
	if err := p.kill(ctx); err != nil {
		return n.wrap("restart", err)
	}
	_, err = n.corner.start(ctx, n.recipe, s)
	return n.wrap("restart", err)
}

// send does something to a broker that must be alive.
func (n *Node) send(ctx context.Context, verb string, do func(process) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, p, err := n.find()
	if err != nil {
		return err
	}
	if !p.Alive() {
		return n.wrap(verb, errors.New("the process is not running"))
	}
	return n.wrap(verb, do(p))
}

// find returns the state and the broker process, dead or alive.
func (n *Node) find() (state, process, error) {
	s, err := n.corner.load()
	if err != nil || len(s.Processes) == 0 {
		return state{}, process{}, fmt.Errorf("%s: %w", n.Name(), errNoNode)
	}
	commands := n.recipe.commands(s.Site)
	p, ok := s.process(commands[len(commands)-1].Name)
	if !ok {
		return state{}, process{}, fmt.Errorf("%s: %w", n.Name(), errNoNode)
	}
	return s, p, nil
}

func (n *Node) wrap(verb string, err error) error {
	if err != nil {
		err = fmt.Errorf("%s %s: %w", verb, n.Name(), err)
	}
	return err
}
