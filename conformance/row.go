// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"math"
	"strconv"
)

// row is one row of a history: a list of JSON values.
type row []any

// at is an element, nil where there is none.
func (r row) at(i int) any {
	if i < len(r) {
		return r[i]
	}
	return nil
}

// text is an element as a word; "" where it is none.
func (r row) text(i int) string {
	s, _ := r.at(i).(string)
	return s
}

// list is an element as a list; nil where it is none.
func (r row) list(i int) row {
	l, _ := r.at(i).([]any)
	return l
}

// number is an element as a number; 0 where it is none.
func (r row) number(i int) float64 {
	n, _ := r.at(i).(float64)
	return n
}

// whole is an element as a whole number.
func (r row) whole(i int) (int64, error) {
	n, is := r.at(i).(float64)
	if !is || n != math.Trunc(n) || math.Abs(n) > 1<<53 {
		return 0, fmt.Errorf("%w: want a whole number, found %v", errShape, r.at(i))
	}
	return int64(n), nil
}

// flag is an element as a yes or no.
func (r row) flag(i int) bool {
	b, _ := r.at(i).(bool)
	return b
}

// word is how a value is told from others: texts as they are, numbers as digits.
func word(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}
