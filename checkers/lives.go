// SPDX-License-Identifier: Apache-2.0

package checkers

import "github.com/seed-720a3c77/harness/history"

func tellLives(*Result, *Judge, *history.Run) error { return nil }
