// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

var (
	//go:embed cases.jsonl
	embedded string
	//go:embed own.jsonl
	own string
)

// maxLine bounds one line of a file of cases.
const maxLine = 16 << 20

// Case is one line: a history of its kind and what its source says of it.
type Case struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
	// Src names the test or issue that it comes from.
	Src  string `json:"src"`
	Note string `json:"note"`
	// H is the history, in the form of the kind.
	H json.RawMessage `json:"h"`
	// Expect holds figures that must be as given; others are free.
	Expect map[string]any `json:"expect"`
	// Absent are anomalies that must not be found; Only, that nothing else may be.
	Absent []string `json:"absent"`
	Only   bool     `json:"only"`

	fields map[string]json.RawMessage
	line   int
}

// Embedded are the cases of other projects that are part of this one.
func Embedded() ([]Case, error) { return Read(strings.NewReader(embedded)) }

// Own are more cases of the same kinds, and native histories, written here.
func Own() ([]Case, error) { return Read(strings.NewReader(own)) }

// Read reads cases, one a line. The error names the line.
func Read(r io.Reader) ([]Case, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	var all []Case
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff")) // some editors begin a file so
		if line == "" {
			continue
		}
		c, err := parse([]byte(line))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		c.line = n
		all = append(all, c)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("cases: %w", err)
	}
	return all, nil
}

func parse(line []byte) (Case, error) {
	var c Case
	if err := json.Unmarshal(line, &c); err != nil {
		return c, fmt.Errorf("not a case: %w", err)
	}
	if err := json.Unmarshal(line, &c.fields); err != nil {
		return c, err
	}
	switch {
	case c.ID == "" || c.Kind == "":
		return c, errors.New("a case wants an id and a kind")
	case !slices.Contains(kindNames(), c.Kind):
		return c, fmt.Errorf("%s: %w", c.ID, unknownKind(c.Kind))
	case c.Expect == nil && len(c.Absent) == 0 && !c.Only:
		return c, fmt.Errorf("%s: a case wants something that it expects", c.ID)
	}
	return c, nil
}

// field decodes a field of the kind; one that is not there leaves into as it is.
func (c *Case) field(name string, into any) error {
	raw, there := c.fields[name]
	if !there {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// bound is a number that a case sets itself, beside its history or in an object of
// settings, by any part of its name; without is what it is where none is set.
func (c *Case) bound(without float64, parts ...string) float64 {
	for _, name := range sortedNames(c.fields) {
		var value any
		if json.Unmarshal(c.fields[name], &value) != nil {
			continue
		}
		settings, is := value.(map[string]any)
		if !is {
			settings = map[string]any{name: value}
		}
		for name, value := range settings {
			n, is := value.(float64)
			if is && slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(name, part) }) {
				return n
			}
		}
	}
	return without
}

// rows decodes the history as a list of lists.
func (c *Case) rows() ([]row, error) {
	var all []row
	if len(c.H) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(c.H, &all); err != nil {
		return nil, fmt.Errorf("h: %w", err)
	}
	return all, nil
}

// errShape is a row that is not of its kind's form.
var errShape = errors.New("not of the form of its kind")
