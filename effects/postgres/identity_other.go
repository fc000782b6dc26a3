// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package postgres

import (
	"os"
	"os/exec"
)

// identity is always that of this process here.
type identity struct{}

func ordinary() (*identity, error) { return nil, nil }

func (*identity) applyTo(*exec.Cmd) {}

func (*identity) own(string) error { return nil }

func (*identity) parent() string { return os.TempDir() }
