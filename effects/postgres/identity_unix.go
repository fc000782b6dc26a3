// SPDX-License-Identifier: Apache-2.0

//go:build unix

package postgres

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// identity is the user that a server runs as; nil is the user of this process.
type identity struct{ uid, gid uint32 }

// accounts are the users that a server may run as where this process is root's.
var accounts = []string{"postgres", "nobody"}

// ordinary is another user where this process is root's, else nil.
func ordinary() (*identity, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range accounts {
		found, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, errUID := strconv.ParseUint(found.Uid, 10, 32)
		gid, errGID := strconv.ParseUint(found.Gid, 10, 32)
		if errUID == nil && errGID == nil {
			return &identity{uint32(uid), uint32(gid)}, nil
		}
	}
	return nil, fmt.Errorf("postgres: a server does not run as root, and there is no user %v", accounts)
}

// applyTo has a program run as the user, in a group that no signal of the terminal reaches.
func (i *identity) applyTo(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if i != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: i.uid, Gid: i.gid}
	}
}

// own gives a file or folder to the user.
func (i *identity) own(path string) error {
	if i == nil {
		return nil
	}
	return os.Chown(path, int(i.uid), int(i.gid))
}

// parent is a folder for temporary ones that the user can reach.
func (i *identity) parent() string {
	for _, dir := range []string{os.TempDir(), "/tmp"} {
		if i == nil || open(dir) {
			return dir
		}
	}
	return "/var/tmp"
}

// open tells whether everybody may go to a folder.
func open(dir string) bool {
	const anybody = 0o001
	for {
		info, err := os.Stat(dir)
		if err != nil || info.Mode()&anybody == 0 {
			return false
		}
		up := filepath.Dir(dir)
		if up == dir {
			return true
		}
		dir = up
	}
}
