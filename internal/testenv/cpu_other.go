// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package testenv

import "time"

// CPUTime is not known on this system.
func CPUTime() time.Duration { return 0 }
