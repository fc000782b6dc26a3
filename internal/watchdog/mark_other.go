// SPDX-License-Identifier: Apache-2.0

//go:build !linux && !darwin

package watchdog

func startOf(int) (string, bool) { return "", false }
