// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"github.com/goccy/go-yaml/ast"
)

// stepWords are the words that every step of a timeline may have.
var stepWords = map[string]bool{"do": true, "target": true, "at": true, "after": true, "for": true, "repeat": true}

// DecodeStep decodes strictly what a step says beside the words that every step has. It
// is how the catalogue hands a step to its fault.
func DecodeStep(s Step, into any) error {
	rest := ast.Mapping(s.Node.GetToken(), false)
	for _, p := range pairs(s.Node) {
		if !stepWords[keyText(p)] {
			rest.Values = append(rest.Values, p)
		}
	}
	if len(rest.Values) == 0 {
		return nil
	}
	return decodeNode(rest, into)
}
