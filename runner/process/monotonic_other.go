// SPDX-License-Identifier: Apache-2.0

//go:build !linux && !darwin

package process

import "time"

func monotonic() (time.Duration, bool) { return 0, false }
