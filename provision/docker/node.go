// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/seed-720a3c77/harness/provision"
)

// killPatience bounds the wait for killed containers to be gone.
const killPatience = 20 * time.Second

// Node is the container of one engine. It asks for the container at every call, so it
// follows the broker through restarts, whoever made them.
type Node struct {
	berth berth
}

var _ provision.Node = (*Node)(nil)

// errNotRunning refuses to freeze or thaw what has no process.
var errNotRunning = errors.New("the container is not running")

// Name returns for example "docker/kafka/1".
func (n *Node) Name() string { return name + "/" + n.berth.engine + "/1" }

// PID is the id of the container's first process on this host, 0 when it does not run or its
// engine keeps it in a virtual machine.
func (n *Node) PID() int {
	if runtime.GOOS != "linux" {
		return 0
	}
	pid := 0
	_ = n.with(context.Background(), "inspect", func(h host, c box) error {
		inspected, err := h.ContainerInspect(context.Background(), c.id, client.ContainerInspectOptions{})
		if err == nil && strings.HasPrefix(h.DaemonHost(), "unix:") {
			pid = inspected.Container.State.Pid
		}
		return err
	})
	return pid
}

// Kill ends the broker with SIGKILL and returns when it is gone; its data stays.
func (n *Node) Kill(ctx context.Context) error {
	return n.with(ctx, "kill", func(h host, c box) error { return h.kill(ctx, c) })
}

// Freeze stops all processes of the container at once, by its cgroup, and returns when they
// stand still. Its published ports still accept connections.
func (n *Node) Freeze(ctx context.Context) error {
	return n.with(ctx, "freeze", func(h host, c box) error {
		switch c.state {
		case container.StatePaused:
			return nil
		case container.StateRunning:
			_, err := h.ContainerPause(ctx, c.id, client.ContainerPauseOptions{})
			return err
		}
		return errNotRunning
	})
}

// Thaw lets a frozen broker go on. It is harmless on one that is not frozen.
func (n *Node) Thaw(ctx context.Context) error {
	return n.with(ctx, "thaw", func(h host, c box) error { return h.thaw(ctx, c) })
}

// Restart kills the broker if it runs and starts it again with its data, at its ports.
// LocalStack keeps queues and messages in memory: it comes back empty.
func (n *Node) Restart(ctx context.Context) error {
	unlock, err := n.berth.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return n.with(ctx, "restart", func(h host, c box) error {
		if err := h.kill(ctx, c); err != nil {
			return err
		}
		if _, err := h.ContainerStart(ctx, c.id, client.ContainerStartOptions{}); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, startPatience)
		defer cancel()
		_, err := h.await(ctx, n.berth, c)
		return err
	})
}

// Control runs rabbitmqctl in the container.
func (n *Node) Control(ctx context.Context, args ...string) (printed string, err error) {
	program := n.berth.recipe.control()
	if program == "" {
		return "", fmt.Errorf("control %s: it has no control program: %w", n.Name(), errors.ErrUnsupported)
	}
	err = n.with(ctx, "control", func(h host, c box) (err error) {
		printed, err = h.output(ctx, c, append([]string{program, "-q"}, args...))
		return err
	})
	return printed, err
}

// output runs a program in a container to its end and returns what it printed.
func (h host) output(ctx context.Context, c box, program []string) (string, error) {
	made, err := h.ExecCreate(ctx, c.id, client.ExecCreateOptions{Cmd: program, AttachStdout: true, AttachStderr: true})
	if err != nil {
		return "", err
	}
	said, err := h.ExecAttach(ctx, made.ID, client.ExecAttachOptions{})
	if err != nil {
		return "", err
	}
	defer said.Close()
	defer context.AfterFunc(ctx, said.Close)()
	var printed, complaint strings.Builder
	if _, err := stdcopy.StdCopy(&printed, &complaint, said.Reader); err != nil {
		return "", errors.Join(err, context.Cause(ctx))
	}
	ended, err := h.ExecInspect(ctx, made.ID, client.ExecInspectOptions{})
	if err == nil && ended.ExitCode != 0 {
		err = fmt.Errorf("%s: exit %d\n%s", strings.Join(program, " "), ended.ExitCode, strings.TrimSpace(complaint.String()))
	}
	return printed.String(), err
}

// with connects, finds the container and does something to it.
func (n *Node) with(ctx context.Context, verb string, do func(host, box) error) error {
	h, err := connect(ctx)
	if err != nil {
		return fmt.Errorf("%s %s: %w", verb, n.Name(), err)
	}
	defer h.Close()
	c, err := h.find(ctx, n.berth)
	if err == nil {
		err = do(h, c)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", verb, n.Name(), err)
	}
	return nil
}

func (h host) thaw(ctx context.Context, c box) error {
	switch c.state {
	case container.StateRunning:
		return nil
	case container.StatePaused:
		_, err := h.ContainerUnpause(ctx, c.id, client.ContainerUnpauseOptions{})
		return err
	}
	return errNotRunning
}

// kill is no error on a container that does not run.
func (h host) kill(ctx context.Context, c box) error {
	ctx, cancel := context.WithTimeout(ctx, killPatience)
	defer cancel()
	_, err := h.ContainerKill(ctx, c.id, client.ContainerKillOptions{Signal: "KILL"})
	if err != nil && !errdefs.IsConflict(err) { // conflict: it is not running
		return err
	}
	wait := h.ContainerWait(ctx, c.id, client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
	select {
	case err := <-wait.Error:
		return err
	case <-wait.Result:
		return nil
	}
}
