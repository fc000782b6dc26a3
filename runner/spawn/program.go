// SPDX-License-Identifier: Apache-2.0

package spawn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"time"
)

// Program is what to start.
type Program struct {
	// Args are the program, which is looked for in PATH, and its arguments.
	Args []string
	// Env is its whole environment.
	Env []string
	// Files are its standard input and its files 3, 4 and so on; none is an empty input.
	// Start closes the harness's copies, also when it fails.
	Files []*os.File
	// Lines gets its standard output besides; nil is nobody. Without it both outputs are
	// one pipe, so that what is kept of them stands in the order of writing.
	Lines io.Writer
	// Guard ends the process if the harness cannot; nil is nobody.
	Guard Guard
}

// Guard ends the group of a process if the harness dies.
type Guard interface {
	// Guard begins; release is called when the process has ended.
	Guard(pid int) (release func(), err error)
}

// Start starts the program. When it returns, the process may have ended already.
func (g Program) Start() (*Process, error) {
	if !Supported {
		closeAll(g.Files)
		return nil, fmt.Errorf("programs can be stopped and followed on Linux and macOS only: %w", errors.ErrUnsupported)
	}
	files, ours, err := g.files()
	defer closeAll(files)
	if err != nil {
		return nil, err
	}
	path, err := exec.LookPath(g.Args[0])
	if err != nil {
		closeAll(ours)
		return nil, err
	}
	made, err := os.StartProcess(path, g.Args, &os.ProcAttr{Env: g.Env, Files: files, Sys: ownGroup()})
	if err != nil {
		closeAll(ours)
		return nil, err
	}
	p := newProcess(made.Pid)
	_ = made.Release() // watch reaps it
	go p.watch()
	go p.listen(ours, g.Lines)
	if err := p.guarded(g.Guard); err != nil {
		p.End()
		return nil, err
	}
	return p, nil
}

// files are those of the process in its order, and the ends of its outputs that are read
// here.
func (g Program) files() (theirs, ours []*os.File, err error) {
	theirs = g.Files
	if len(theirs) == 0 {
		none, err := os.Open(os.DevNull)
		if err != nil {
			return nil, nil, err
		}
		theirs = []*os.File{none}
	}
	out, stdout, err := os.Pipe()
	if err != nil {
		return theirs, nil, err
	}
	if g.Lines == nil {
		return slices.Insert(slices.Clone(theirs), 1, stdout, stdout), []*os.File{out}, nil
	}
	complaints, stderr, err := os.Pipe()
	if err != nil {
		out.Close()
		return append(theirs, stdout), nil, err
	}
	return slices.Insert(slices.Clone(theirs), 1, stdout, stderr), []*os.File{out, complaints}, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // stdout may be there twice
	}
}

// guardPatience is how long a process that cannot be guarded may take to show that it is
// gone.
const guardPatience = time.Second

// guarded has the process guarded until it ends. What has ended needs no guard.
func (p *Process) guarded(by Guard) error {
	if by == nil {
		return nil
	}
	release, err := by.Guard(p.pid)
	switch {
	case err != nil && p.Gone(context.Background(), guardPatience):
		return nil
	case err != nil:
		return err
	}
	go func() { <-p.ended; release() }()
	return nil
}
