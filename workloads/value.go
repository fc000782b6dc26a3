// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// checkValue refuses a scalar that the decoder would bend until it fits: 2.5 to 2, 010 to 8,
// the text 3.50 to 3.5, a duration without a unit to nanoseconds, and nothing to 0.
func checkValue(n ast.Node, t reflect.Type, where string) error {
	if n.Type() == ast.NullType {
		return lineError(n, "%s has no value", where)
	}
	if t == reflect.TypeFor[time.Duration]() {
		return new(Duration).UnmarshalYAML(n)
	}
	wants := ""
	switch {
	case t.Kind() == reflect.Bool && n.Type() != ast.BoolType:
		wants = "true or false"
	case t.Kind() == reflect.String && !isText(n):
		wants = "a text (in quotes, if it looks like a number)"
	case isWhole(t) && !fitsWhole(n, t):
		wants = "a whole number in digits"
	}
	if wants == "" {
		return nil
	}
	return lineError(n, "%s wants %s, got %q", where, wants, short(n))
}

func isWhole(t reflect.Type) bool {
	return t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64
}

func fitsWhole(n ast.Node, t reflect.Type) bool {
	text := scalar(n)
	if n.Type() != ast.IntegerType || !digits(strings.TrimPrefix(text, "-")) {
		return false
	}
	var err error
	if t.Kind() >= reflect.Uint {
		_, err = strconv.ParseUint(text, 10, t.Bits())
	} else {
		_, err = strconv.ParseInt(text, 10, t.Bits())
	}
	return err == nil
}

// digits tells whether a text is a number as one writes it: 0 or 10, not 010.
func digits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == "" && (text == "0" || text[0] != '0')
}

// isText tells whether a node is read as the text that stands there.
func isText(n ast.Node) bool {
	switch v := n.(type) {
	case *ast.StringNode, *ast.LiteralNode, *ast.BoolNode:
		return true
	case *ast.IntegerNode:
		return digits(strings.TrimPrefix(scalar(n), "-"))
	case *ast.FloatNode:
		return strconv.FormatFloat(v.Value, 'f', -1, 64) == scalar(n)
	}
	return false
}
