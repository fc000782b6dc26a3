// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"strings"
	"time"
)

// brief writes a duration without its zero parts: 1h30m, 25h, 31s.
func brief(d time.Duration) string {
	text := d.Round(time.Millisecond).String()
	if whole, ok := strings.CutSuffix(text, "m0s"); ok {
		text = whole + "m"
	}
	if whole, ok := strings.CutSuffix(text, "h0m"); ok {
		text = whole + "h"
	}
	return text
}
