// SPDX-License-Identifier: Apache-2.0

package testenv

import "testing"

// Lacks is for a test that found out itself that something cannot be had here, such as
// postgres or python: it is skipped and noted, or fails where HARNESS_REQUIRE names it.
func Lacks(t testing.TB, name, why string) {
	t.Helper()
	missing(t, name, why)
}
