// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin

package native

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/seed-720a3c77/harness/internal/proc"
)

const supported = true

// spawn starts a command in a session, and so a process group, of its own: signals of the
// harness's terminal do not reach it and it outlives the harness.
func spawn(c command, dir, logPath string) (process, error) {
	log, err := os.OpenFile(logPath, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return process{}, err
	}
	defer log.Close()
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Dir, cmd.Env = dir, cleanEnv(dir, c.Env)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return process{}, err
	}
	made, _ := proc.Of(cmd.Process.Pid) // cannot have been reaped yet
	go func() { _ = cmd.Wait() }()      // reap it if it ends before the harness does
	return process{c.Name, made}, nil
}

// endWholeGroup gives a tool a process group, which ends as a whole when its context does.
func endWholeGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
}
