// SPDX-License-Identifier: Apache-2.0

package native

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-720a3c77/harness/provision/local"
)

// readyEvery is the pause between two tries to use a broker that is starting.
const readyEvery = 100 * time.Millisecond

// create starts a fresh broker. What it started is gone again if it fails; the folder with
// the logs stays until the next Up or Down.
func (p *Provider) create(ctx context.Context, r recipe, c corner, home string) (state, error) {
	ports, err := local.FreePorts(r.ports())
	if err != nil {
		return state{}, err
	}
	s := state{Site: site{Home: home, Dir: c.runDir(), Ports: ports}}
	if err := os.MkdirAll(s.Site.Dir, 0o700); err != nil {
		return state{}, err
	}
	p.say("native: starting %s", c.engine)
	if err := r.configure(ctx, s.Site); err != nil {
		return state{}, fmt.Errorf("native %s: configure: %w", c.engine, err)
	}
	if s.Setup, err = setupOf(r, s.Site); err != nil {
		return state{}, err
	}
	return c.start(ctx, r, s)
}

// start runs those commands of the recipe that do not run, waits until the broker answers,
// and writes the state after each step.
func (c corner) start(ctx context.Context, r recipe, s state) (state, error) {
	s, err := c.launch(r, s)
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, startPatience)
		defer cancel()
		s.Version, err = c.await(ctx, r, s)
	}
	if err == nil {
		return s, c.save(s)
	}
	err = fmt.Errorf("native %s: %w\n%s", c.engine, err, c.logTail(r, s.Site))
	return state{}, errors.Join(err, c.killAll(context.WithoutCancel(ctx), s))
}

func (c corner) launch(r recipe, s state) (state, error) {
	for _, command := range r.commands(s.Site) {
		if old, ok := s.process(command.Name); ok && old.Alive() {
			continue
		}
		process, err := spawn(command, s.Site.Dir, c.logPath(command.Name))
		if err != nil {
			return s, fmt.Errorf("start %s: %w", command.Name, err)
		}
		s = s.with(process)
		if err := c.save(s); err != nil {
			return s, err
		}
	}
	return s, nil
}

// await repeats the recipe's probe until it succeeds, a process dies or ctx ends.
func (c corner) await(ctx context.Context, r recipe, s state) (version string, err error) {
	ticker := time.NewTicker(readyEvery)
	defer ticker.Stop()
	for {
		version, err = r.ready(ctx, s.Site)
		if err == nil {
			return version, nil
		}
		if dead := s.dead(); dead != "" {
			return "", fmt.Errorf("process %s ended while starting (last answer: %w)", dead, err)
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("not ready at %s: %w (last answer: %w)", r.endpoint(s.Site).Address, context.Cause(ctx), err)
		case <-ticker.C:
		}
	}
}

// logTail returns the last lines of the broker's own log, for an error message.
func (c corner) logTail(r recipe, s site) string {
	commands := r.commands(s)
	path := c.logPath(commands[len(commands)-1].Name)
	return fmt.Sprintf("last lines of %s:\n%s", path, tail(path, 20))
}

func (c corner) logPath(command string) string {
	return filepath.Join(c.runDir(), command+".log")
}
