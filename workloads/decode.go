// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/internal/suggest"
)

const (
	maxSource   = 1 << 20
	maxDepth    = 32
	maxVariants = 256
)

// Document is a workload file before a variant was chosen.
type Document struct {
	// File names it in errors.
	File string
	// Name and About are those of the file.
	Name, About string
	Tags        []string
	variants    []variant
	source      []byte
}

// variant is one choice on every axis.
type variant struct {
	name   string
	chosen map[string]string // axis to value
}

// Parse reads a workload file and decodes every variant once, so that bad input is
// found before anything starts. Input is bounded: 1 MiB, 256 variants.
func Parse(file string, source []byte) (*Document, error) {
	if len(source) > maxSource {
		return nil, fmt.Errorf("%s: larger than 1 MiB", file)
	}
	doc := &Document{File: file, source: source}
	root, err := doc.parse()
	if err != nil {
		return nil, err
	}
	if doc.variants, err = variantsOf(lookup(root, "variants")); err != nil {
		return nil, doc.named(err)
	}
	for _, v := range doc.variants {
		spec, err := doc.Spec(v.name)
		if err != nil {
			return nil, err
		}
		if err := doc.reaches(spec); err != nil {
			return nil, err
		}
		doc.Name, doc.About, doc.Tags = spec.Name, spec.About, spec.Tags
	}
	return doc, nil
}

// Variants lists the names of the variants in order; one empty name where there are none.
func (d *Document) Variants() []string {
	var all []string
	for _, v := range d.variants {
		all = append(all, v.name)
	}
	return all
}

// Source is the file as it was read.
func (d *Document) Source() string { return string(d.source) }

// Spec decodes the workload with one variant applied.
func (d *Document) Spec(name string) (*Spec, error) {
	i := slices.IndexFunc(d.variants, func(v variant) bool { return v.name == name })
	if i < 0 {
		return nil, fmt.Errorf("%s: %s", d.File, suggest.Unknown("variant", name, d.Variants()))
	}
	root, err := d.parse()
	if err != nil {
		return nil, err
	}
	spec, err := decodeVariant(root, d.variants[i])
	if err != nil {
		return nil, d.named(err)
	}
	return spec, nil
}

// Recorded decodes the workload that a run's manifest holds, to which the variant was applied.
func Recorded(file, variantName string, source []byte) (*Spec, error) {
	d := &Document{File: file, source: source}
	root, err := d.parse()
	if err != nil {
		return nil, err
	}
	spec, err := decodeVariant(root, variant{name: variantName})
	if err != nil {
		return nil, d.named(err)
	}
	return spec, nil
}

func (d *Document) parse() (*ast.MappingNode, error) {
	if err := tooDeep(d.source); err != nil {
		return nil, fmt.Errorf("%s: %w", d.File, err)
	}
	file, err := parser.ParseBytes(d.source, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %s", d.File, firstLine(err))
	}
	if len(file.Docs) == 0 || len(file.Docs) == 1 && file.Docs[0].Body == nil {
		return nil, fmt.Errorf("%s: the file is empty", d.File)
	}
	if len(file.Docs) > 1 {
		return nil, fmt.Errorf("%s: want one YAML document, got %d", d.File, len(file.Docs))
	}
	root := asMapping(file.Docs[0].Body)
	if root == nil {
		return nil, fmt.Errorf("%s: want a mapping with name, topology, produce and consume", d.File)
	}
	return root, nil
}

// tooDeep bounds nesting before the parser recurses.
func tooDeep(source []byte) error {
	depth := 0
	for _, b := range source {
		switch b {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		if depth > maxDepth {
			return errors.New("nested deeper than 32 brackets")
		}
	}
	for text := range strings.Lines(string(source)) {
		if len(text)-len(strings.TrimLeft(text, " ")) > 8*maxDepth {
			return errors.New("indented deeper than 256 columns")
		}
	}
	return nil
}

// firstLine keeps position and message of a parser's error, not its picture.
func firstLine(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}

func (d *Document) named(err error) error {
	var at *LineError
	if errors.As(err, &at) {
		return &LineError{File: d.File, Line: at.Line, Text: at.Text}
	}
	return fmt.Errorf("%s: %w", d.File, err)
}

func variantsOf(n ast.Node) ([]variant, error) {
	all := []variant{{chosen: map[string]string{}}}
	for _, axis := range pairs(n) {
		values, err := axisValues(axis)
		if err != nil {
			return nil, err
		}
		if all = multiply(all, keyText(axis), values); len(all) > maxVariants {
			return nil, lineError(axis.Key, "more than %d variants", maxVariants)
		}
	}
	return all, nil
}

func axisValues(axis *ast.MappingValueNode) ([]string, error) {
	var values []string
	if list, ok := axis.Value.(*ast.SequenceNode); ok {
		for _, value := range list.Values {
			values = append(values, scalar(value))
		}
	}
	for _, p := range pairs(axis.Value) {
		values = append(values, keyText(p))
	}
	if len(values) == 0 {
		return nil, lineError(axis.Key, "variants.%s: want a list of values or a mapping of overlays", keyText(axis))
	}
	return values, nil
}

func multiply(all []variant, axis string, values []string) []variant {
	var next []variant
	for _, v := range all {
		for _, value := range values {
			chosen := map[string]string{axis: value}
			for a, c := range v.chosen {
				chosen[a] = c
			}
			next = append(next, variant{strings.TrimPrefix(v.name+"+"+value, "+"), chosen})
		}
	}
	return next
}

func decodeVariant(root *ast.MappingNode, v variant) (*Spec, error) {
	values := map[string]ast.Node{}
	for _, axis := range pairs(lookup(root, "variants")) {
		name := v.chosen[keyText(axis)]
		if overlay := lookup(axis.Value, name); overlay != nil {
			if empty := emptyList(overlay); empty != nil {
				return nil, lineError(empty, "an overlay is laid over entry by entry, so that an empty list changes nothing")
			}
			merge(root, overlay)
			continue
		}
		values[keyText(axis)] = axisNode(axis.Value, name)
	}
	without(root, "variants")
	if _, unknown := substitute(root, values); unknown != nil {
		return nil, lineError(unknown, "%s", suggest.Unknown("axis", scalar(unknown), names(values)))
	}
	spec := &Spec{Variant: v.name, Source: root.String() + "\n"}
	if err := decodeNode(root, spec); err != nil {
		return nil, err
	}
	return spec, validate(spec, root)
}

// axisNode is the chosen value of an axis as it stands in the list.
func axisNode(axis ast.Node, value string) ast.Node {
	list := axis.(*ast.SequenceNode)
	i := slices.IndexFunc(list.Values, func(n ast.Node) bool { return scalar(n) == value })
	return list.Values[i]
}

// decodeNode checks the keys and decodes.
func decodeNode(n ast.Node, into any) error {
	if err := checkKeys(n, reflect.TypeOf(into), "workload"); err != nil {
		return err
	}
	err := yaml.NodeToValue(n, into, yaml.Strict())
	if err == nil {
		return nil
	}
	var at *LineError
	if errors.As(err, &at) {
		return at
	}
	return &LineError{File: "workload", Line: lineOf(err), Text: firstLine(err)}
}

func lineOf(err error) int {
	var line int
	if _, scan := fmt.Sscanf(err.Error(), "[%d:", &line); scan != nil {
		return 0
	}
	return line
}

// UnmarshalYAML splits a step into the words that every step has and the node with the rest.
func (s *Step) UnmarshalYAML(n ast.Node) error {
	s.Line, s.Node = line(n), n
	s.Do, s.Target = textOf(n, "do"), textOf(n, "target")
	if s.Do == "" {
		return lineError(n, "a step wants do: what to do")
	}
	for key, into := range map[string]*Duration{"at": &s.Trigger.At, "after": &s.Trigger.After} {
		value := lookup(n, key)
		if value == nil {
			continue
		}
		s.Trigger.Timed, s.Trigger.Following = true, key == "after"
		if asMapping(value) != nil {
			s.Trigger.Timed = false
			if err := decodeNode(value, &s.Trigger); err != nil {
				return err
			}
			continue
		}
		if err := into.UnmarshalYAML(value); err != nil {
			return err
		}
	}
	return s.lasting(n)
}

// lasting reads how long a step lasts and how often it is repeated.
func (s *Step) lasting(n ast.Node) error {
	if value := lookup(n, "for"); value != nil {
		if err := s.For.UnmarshalYAML(value); err != nil {
			return err
		}
	}
	if value := lookup(n, "repeat"); value != nil {
		return decodeNode(value, &s.Repeat)
	}
	return nil
}

func textOf(n ast.Node, key string) string {
	if value := lookup(n, key); value != nil {
		return scalar(value)
	}
	return ""
}

// UnmarshalYAML takes a claim, a list of claims, or a mapping from variant to either.
func (c *Claims) UnmarshalYAML(n ast.Node) error {
	if asMapping(n) == nil {
		claims, err := claimsOf(n)
		*c = Claims{{Claims: claims}}
		return err
	}
	for _, p := range pairs(n) {
		claims, err := claimsOf(p.Value)
		if err != nil {
			return err
		}
		*c = append(*c, VariantClaims{Variant: keyText(p), Claims: claims})
	}
	return nil
}

func claimsOf(n ast.Node) ([]contract.Claim, error) {
	var words OneOrMany
	if err := words.UnmarshalYAML(n); err != nil {
		return nil, err
	}
	var claims []contract.Claim
	for _, word := range words {
		if !slices.Contains(contract.Claims(), contract.Claim(word)) {
			return nil, lineError(n, "%s", suggest.Unknown("claim", word, claimNames()))
		}
		claims = append(claims, contract.Claim(word))
	}
	return claims, nil
}

func claimNames() []string {
	var all []string
	for _, c := range contract.Claims() {
		all = append(all, string(c))
	}
	return all
}
