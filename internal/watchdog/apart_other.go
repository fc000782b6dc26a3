// SPDX-License-Identifier: Apache-2.0

//go:build !linux && !darwin

package watchdog

import "os/exec"

func apart(*exec.Cmd) {}
