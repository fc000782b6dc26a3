// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"os"
	"testing"
)

// Soaking tells whether tests take the sizes of the nightly tier: HARNESS_SOAK is set.
func Soaking() bool { return os.Getenv("HARNESS_SOAK") != "" }

// Soak skips a test of the nightly tier in the others.
func Soak(t testing.TB, why string) {
	t.Helper()
	if !Soaking() {
		t.Skip("set HARNESS_SOAK=1: " + why)
	}
}
