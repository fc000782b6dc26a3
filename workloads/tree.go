// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// pairs are the entries of a mapping, which the parser writes in two ways.
func pairs(n ast.Node) []*ast.MappingValueNode {
	switch m := n.(type) {
	case *ast.MappingNode:
		return m.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{m}
	}
	return nil
}

func lookup(n ast.Node, key string) ast.Node {
	for _, p := range pairs(n) {
		if keyText(p) == key {
			return p.Value
		}
	}
	return nil
}

func keyText(p *ast.MappingValueNode) string {
	return strings.Trim(strings.TrimSpace(p.Key.String()), `"'`)
}

func without(m *ast.MappingNode, key string) {
	kept := m.Values[:0]
	for _, p := range m.Values {
		if keyText(p) != key {
			kept = append(kept, p)
		}
	}
	m.Values = kept
}

// merge lays over upon base: mappings by key, sequences element by element, anything
// else is replaced.
func merge(base, over ast.Node) ast.Node {
	if b, o := asMapping(base), asMapping(over); b != nil && o != nil {
		return mergeMapping(b, o)
	}
	b, ok1 := base.(*ast.SequenceNode)
	o, ok2 := over.(*ast.SequenceNode)
	if !ok1 || !ok2 {
		return over
	}
	for i, value := range o.Values {
		if i == len(b.Values) {
			b.Values = append(b.Values, value)
			continue
		}
		b.Values[i] = merge(b.Values[i], value)
	}
	return b
}

// emptyList finds a list without entries, nil if there is none.
func emptyList(n ast.Node) ast.Node {
	if list, ok := n.(*ast.SequenceNode); ok {
		if len(list.Values) == 0 {
			return n
		}
		for _, value := range list.Values {
			if found := emptyList(value); found != nil {
				return found
			}
		}
	}
	for _, p := range pairs(n) {
		if found := emptyList(p.Value); found != nil {
			return found
		}
	}
	return nil
}

func mergeMapping(b, o *ast.MappingNode) ast.Node {
	for _, p := range o.Values {
		if old := find(b, keyText(p)); old != nil {
			old.Value = merge(old.Value, p.Value)
			continue
		}
		indentLike(b, p)
		b.Values = append(b.Values, p)
	}
	return b
}

// indentLike moves an entry of an overlay to the column of its new neighbours, without which
// the text of the whole is not YAML.
func indentLike(m *ast.MappingNode, p *ast.MappingValueNode) {
	if !m.IsFlowStyle && len(m.Values) > 0 {
		p.AddColumn(columnOf(m.Values[0]) - columnOf(p))
	}
}

func columnOf(p *ast.MappingValueNode) int { return p.Key.GetToken().Position.Column }

func find(m *ast.MappingNode, key string) *ast.MappingValueNode {
	for _, p := range m.Values {
		if keyText(p) == key {
			return p
		}
	}
	return nil
}

func asMapping(n ast.Node) *ast.MappingNode {
	switch m := n.(type) {
	case *ast.MappingNode:
		return m
	case *ast.MappingValueNode:
		return ast.Mapping(m.GetToken(), false, m)
	}
	return nil
}

// substitute puts the chosen value of an axis wherever $axis stands, and returns the
// first name with a $ that is no axis.
func substitute(n ast.Node, values map[string]ast.Node) (ast.Node, ast.Node) {
	switch v := n.(type) {
	case *ast.MappingNode:
		for _, p := range v.Values {
			next, unknown := substitute(p.Value, values)
			if unknown != nil {
				return n, unknown
			}
			p.Value = next
		}
	case *ast.MappingValueNode:
		next, unknown := substitute(v.Value, values)
		v.Value = next
		return v, unknown
	case *ast.SequenceNode:
		for i, value := range v.Values {
			next, unknown := substitute(value, values)
			if unknown != nil {
				return n, unknown
			}
			v.Values[i] = next
		}
	case *ast.StringNode:
		return axisValue(v, values)
	}
	return n, nil
}

func axisValue(v *ast.StringNode, values map[string]ast.Node) (ast.Node, ast.Node) {
	name, found := strings.CutPrefix(v.Value, "$")
	if !found {
		return v, nil
	}
	if value, ok := values[name]; ok {
		return value, nil
	}
	return v, v
}
