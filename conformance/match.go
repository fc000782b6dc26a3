// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Figures is what a judge found, by the names of its kind. Whatever JSON can write may be
// a figure.
type Figures map[string]any

// either is a figure that may be written in more than one way.
type either []any

// compare tells what of a case's expectation is not met, "" for none. Keys that are
// present must match, and so must those of objects within; lists are compared as bags but
// for ordered kinds.
func compare(c *Case, got Figures, ordered bool) string {
	for _, name := range sortedNames(c.Expect) {
		found, there := got[name]
		if !there {
			return fmt.Sprintf("%s: this kind has no such figure", name)
		}
		if !matches(c.Expect[name], found, ordered) {
			return fmt.Sprintf("%s: found %s, want %s", name, shown(found), shown(c.Expect[name]))
		}
	}
	for _, name := range c.Absent {
		if !nothing(got[name]) {
			return fmt.Sprintf("%s: found %s, want none", name, shown(got[name]))
		}
	}
	return ""
}

func matches(want, got any, ordered bool) bool {
	if ways, several := got.(either); several {
		return slices.ContainsFunc(ways, func(way any) bool { return matches(want, way, ordered) })
	}
	switch want := want.(type) {
	case []any:
		return matchesList(want, plain(got), ordered)
	case map[string]any:
		return matchesObject(want, plain(got), ordered)
	case float64:
		n, is := plain(got).(float64)
		return is && n == want
	case string:
		return word(plain(got)) == want
	}
	return plain(got) == want
}

// matchesList compares bags; a list of plain values within a list keeps its order.
func matchesList(want []any, got any, ordered bool) bool {
	list, is := got.([]any)
	if !is || len(list) != len(want) {
		return false
	}
	left := slices.Clone(list)
	for i, w := range want {
		same := func(g any) bool { return matches(w, g, true) }
		j := slices.IndexFunc(left, same)
		if j < 0 || ordered && !same(list[i]) {
			return false
		}
		left = slices.Delete(left, j, j+1)
	}
	return true
}

func matchesObject(want map[string]any, got any, ordered bool) bool {
	object, is := got.(map[string]any)
	if !is {
		return false
	}
	for name, w := range want {
		if g, there := object[name]; !there || !matches(w, g, ordered) {
			return false
		}
	}
	return true
}

// plain is a value as JSON reads it.
func plain(v any) any {
	switch v.(type) {
	case nil, string, float64, bool, []any, map[string]any:
		return v
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	var out any
	_ = json.Unmarshal(text, &out) // what was just written
	if out == nil {
		return []any{} // a list that nothing was put into
	}
	return out
}

func empty(v any) bool {
	switch v := plain(v).(type) {
	case nil:
		return true
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// nothing tells whether a figure is empty in the first way of writing it.
func nothing(v any) bool {
	if ways, several := v.(either); several {
		return empty(ways[0])
	}
	return empty(v)
}

func shown(v any) string {
	if ways, several := v.(either); several && len(ways) > 0 {
		v = ways[0]
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	const most = 300
	if len(text) > most {
		return string(text[:most]) + "..."
	}
	return string(text)
}
