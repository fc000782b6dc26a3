// SPDX-License-Identifier: Apache-2.0

package native

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// Control runs rabbitmqctl on the broker, whose name and cookie it finds as the broker
// itself does.
func (n *Node) Control(ctx context.Context, args ...string) (string, error) {
	s, _, err := n.find()
	if err != nil {
		return "", err
	}
	c := n.recipe.control(s.Site)
	if c.Path == "" {
		return "", n.wrap("control", fmt.Errorf("%s has no control program: %w", n.corner.engine, errors.ErrUnsupported))
	}
	printed, err := c.output(ctx, s.Site.Dir, args...)
	return printed, n.wrap("control", err)
}

// output runs a command to its end, with the broker's environment, and returns what it
// printed. The error has what it complained of.
func (c command) output(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, c.Path, slices.Concat(c.Args, args)...)
	cmd.Dir, cmd.Env = dir, cleanEnv(dir, c.Env)
	endWholeGroup(cmd)
	cmd.WaitDelay = time.Second
	printed, err := cmd.Output()
	if err == nil {
		return string(printed), nil
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	complaint := ""
	if failed := new(exec.ExitError); errors.As(err, &failed) {
		complaint = "\n" + lastLines(string(failed.Stderr), 12)
	}
	return "", fmt.Errorf("%s %s: %w%s", c.Name, strings.Join(args, " "), err, complaint)
}
