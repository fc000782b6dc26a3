// SPDX-License-Identifier: Apache-2.0

package blackbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"text/template"
)

// defaultBody is an order, as JSON.
const defaultBody = `{"event_id":"{{.ID}}","order":{{.N}},"customer":"{{.Key}}","amount":{{.Amount}}}`

// Letter is what a template of a body may use.
type Letter struct {
	// N counts the messages from 0; ID is unique over all runs.
	N  int
	ID string
	// Run is the run's part of the id, Key the ordering key.
	Run, Key string
	// Amount is a number to pay, different for neighbours.
	Amount int
}

// letters makes the ids and bodies of a run's messages.
type letters struct {
	run  string
	keys int
	body *template.Template
	path []string // nil: the id is Letter.ID
}

func newLetters(o *Options, run string) (*letters, error) {
	body, err := template.New("body-template").Option("missingkey=error").Parse(o.Body)
	if err != nil {
		return nil, fmt.Errorf("body-template: %w", err)
	}
	l := &letters{run: run, keys: o.Keys, body: body}
	if o.IDPath != "" {
		l.path = strings.Split(strings.TrimPrefix(strings.TrimPrefix(o.IDPath, "$"), "."), ".")
	}
	return l, nil
}

// write makes the n-th message: its key, its id as the program will name it, and its body.
func (l *letters) write(n int) (letter Letter, body []byte, err error) {
	letter = Letter{N: n, ID: l.run + "-" + strconv.Itoa(n), Run: l.run, Key: "k" + strconv.Itoa(n%l.keys), Amount: 100 + n%900}
	var text bytes.Buffer
	if err := l.body.Execute(&text, letter); err != nil {
		return letter, nil, fmt.Errorf("body-template: %w", err)
	}
	if l.path != nil {
		letter.ID, err = idAt(text.Bytes(), l.path)
	}
	return letter, text.Bytes(), err
}

// idAt is the text or number at a path of names and indexes.
func idAt(body []byte, path []string) (string, error) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return "", fmt.Errorf("id-path: the body is not JSON: %w", err)
	}
	for _, step := range path {
		next, found := stepInto(value, step)
		if !found {
			return "", fmt.Errorf("id-path: the body has no %q in %s", step, strings.Join(path, "."))
		}
		value = next
	}
	switch id := value.(type) {
	case string:
		return id, nil
	case json.Number:
		return id.String(), nil
	}
	return "", fmt.Errorf("id-path: %s is neither a text nor a number", strings.Join(path, "."))
}

func stepInto(value any, step string) (any, bool) {
	switch in := value.(type) {
	case map[string]any:
		next, found := in[step]
		return next, found
	case []any:
		i, err := strconv.Atoi(step)
		if err != nil || i < 0 || i >= len(in) {
			return nil, false
		}
		return in[i], true
	}
	return nil, false
}
