// SPDX-License-Identifier: Apache-2.0

//go:build !linux && !darwin

package proc

// Kill ends nothing here.
func (Process) Kill() {}

// Freeze holds nothing here.
func (Process) Freeze() {}

// Thaw undoes nothing here.
func (Process) Thaw() {}

func startOf(int) (string, bool) { return "", false }

func stopped(int) bool { return false }
