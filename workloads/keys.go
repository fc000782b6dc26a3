// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"maps"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/seed-720a3c77/harness/internal/suggest"
)

// checkKeys walks the tree beside the Go type and refuses the first key that the type
// does not have, and the first value that is not of it. It stops at types that decode
// themselves.
func checkKeys(n ast.Node, t reflect.Type, where string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case decodesItself(t):
		return nil
	case t.Kind() == reflect.Struct:
		return checkStruct(n, t, where)
	case t.Kind() == reflect.Slice:
		return checkSequence(n, t, where)
	case t.Kind() == reflect.Map:
		return checkMap(n, t, where)
	}
	return checkValue(n, t, where)
}

func decodesItself(t reflect.Type) bool {
	_, found := reflect.PointerTo(t).MethodByName("UnmarshalYAML")
	return found
}

func checkStruct(n ast.Node, t reflect.Type, where string) error {
	if n.Type() == ast.NullType {
		return nil
	}
	if asMapping(n) == nil {
		return lineError(n, "%s wants keys, got %q", where, short(n))
	}
	fields := fieldsOf(t)
	for _, p := range pairs(n) {
		key := keyText(p)
		field, ok := fields[key]
		if !ok {
			return lineError(p.Key, "%s", suggest.Unknown("key", key, names(fields))+" (in "+where+")")
		}
		if err := checkKeys(p.Value, field, where+"."+key); err != nil {
			return err
		}
	}
	return nil
}

func checkSequence(n ast.Node, t reflect.Type, where string) error {
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		return lineError(n, "%s wants a list, got %q", where, short(n))
	}
	for _, value := range list.Values {
		if err := checkKeys(value, t.Elem(), where+"[]"); err != nil {
			return err
		}
	}
	return nil
}

func checkMap(n ast.Node, t reflect.Type, where string) error {
	if asMapping(n) == nil {
		return lineError(n, "%s wants names with values, got %q", where, short(n))
	}
	for _, p := range pairs(n) {
		if err := checkKeys(p.Value, t.Elem(), where+"."+keyText(p)); err != nil {
			return err
		}
	}
	return nil
}

func fieldsOf(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for i := range t.NumField() {
		key, option, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		if option == "inline" {
			maps.Copy(fields, fieldsOf(t.Field(i).Type))
		}
		if key != "" && key != "-" {
			fields[key] = t.Field(i).Type
		}
	}
	return fields
}

func names[V any](m map[string]V) []string {
	var all []string
	for name := range m {
		all = append(all, name)
	}
	return all
}

func short(n ast.Node) string {
	text := strings.TrimSpace(n.String())
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		text = text[:i]
	}
	return text[:min(len(text), 40)]
}
