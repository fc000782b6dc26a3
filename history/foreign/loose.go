// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// whole is a whole number, however a tool writes it: as digits, with a fraction of nothing,
// or as a text.
type whole int64

func (w *whole) UnmarshalJSON(text []byte) error {
	text = bytes.Trim(text, `"`)
	if len(text) == 0 || string(text) == "null" {
		return nil
	}
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		*w = whole(n)
		return nil
	}
	x, err := strconv.ParseFloat(string(text), 64)
	if err != nil || x != math.Trunc(x) || math.Abs(x) > 1<<53 {
		return fmt.Errorf("want a whole number, found %q", short(text))
	}
	*w = whole(x)
	return nil
}

// word is a text, which a tool may write as a number.
type word string

func (w *word) UnmarshalJSON(text []byte) error {
	if text[0] != '"' {
		*w = word(text)
		return nil
	}
	var plain string
	err := json.Unmarshal(text, &plain)
	*w = word(plain)
	return err
}
