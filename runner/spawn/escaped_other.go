// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package spawn

// EndEscaped finds nobody: this system does not show environments.
func EndEscaped(string) int { return 0 }
