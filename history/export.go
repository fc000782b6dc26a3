// SPDX-License-Identifier: Apache-2.0

package history

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
)

// jsonHead is line 1.
type jsonHead struct {
	Schema string   `json:"schema"`
	Header *Header  `json:"header"`
	Tasks  []string `json:"tasks"`
	// Events is how many lines follow; a file that was cut is found by it.
	Events *int64 `json:"events,omitempty"`
	// Missing is how many events the run lacks at most.
	Missing int64 `json:"missing,omitempty"`
}

// Export writes a run as JSON Lines (see jsonSchema for the form). Tasks of the same name
// are told apart by a number behind it.
func Export(run *Run, w io.Writer) error {
	x := exporter{run: run, out: bufio.NewWriterSize(w, 64<<10), forms: newJSONForms(), tasks: uniqueTasks(run.Tasks())}
	for c := range columns {
		x.words[c] = jsonWords(c)
	}
	head := jsonHead{jsonSchema, &run.Header, x.tasks, &run.Integrity.Events, run.Integrity.Missing()}
	line, err := json.Marshal(head)
	if err != nil {
		return fmt.Errorf("history: export: %w", err)
	}
	x.out.Write(append(line, '\n'))
	if err := run.Each(AllKinds, x.event); err != nil {
		return err
	}
	if err := x.out.Flush(); err != nil {
		return fmt.Errorf("history: export: %w", err)
	}
	return nil
}

func uniqueTasks(tasks []string) []string {
	taken := map[string]bool{}
	unique := make([]string, len(tasks))
	for i, task := range tasks {
		name := task
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s#%d", task, n)
		}
		taken[name] = true
		unique[i] = name
	}
	return unique
}

// exporter writes events as lines. An error of writing stays in out until it is flushed.
type exporter struct {
	run   *Run
	out   *bufio.Writer
	forms [Kinds]jsonForm
	words [len(columns)][]string
	tasks []string
	line  []byte
}

func (x *exporter) event(e *Event) {
	b := append(x.line[:0], `{"t":`...)
	b = strconv.AppendInt(b, e.T, 10)
	b = append(b, `,"task":`...)
	b = appendJSON(b, x.tasks[e.Task])
	b = append(b, `,"kind":`...)
	b = appendJSON(b, e.Kind.String())
	form := x.forms[NoKind]
	if e.Kind < Kinds {
		form = x.forms[e.Kind]
	}
	for _, field := range form {
		b = x.field(b, field, e)
	}
	x.line = append(b, '}', '\n')
	x.out.Write(x.line)
}

func (x *exporter) field(b []byte, field jsonField, e *Event) []byte {
	if field.column == noColumn {
		b = appendJSONName(b, field.name)
		return append(e.ID().Append(append(b, '"')), '"')
	}
	value := columns[field.column].get(e)
	table, named := jsonTable(field.column)
	isText := named || field.column == flagsColumn || field.column == verbColumn
	if value == 0 && (isText || !field.always) {
		return b
	}
	b = appendJSONName(b, field.name)
	if named {
		return appendJSON(b, x.run.Name(table, uint32(value)))
	}
	if field.column == flagsColumn {
		return appendFlags(b, Flag(value))
	}
	if words := x.words[field.column]; uint64(value) < uint64(len(words)) {
		return appendJSON(b, words[value])
	}
	return strconv.AppendInt(b, value, 10)
}

func appendFlags(b []byte, flags Flag) []byte {
	b = append(b, '[')
	for i, name := range flagNames {
		if flags&(1<<i) == 0 {
			continue
		}
		if b[len(b)-1] != '[' {
			b = append(b, ',')
		}
		b = appendJSON(b, name)
	}
	return append(b, ']')
}

func appendJSONName(b []byte, name string) []byte {
	b = appendJSON(append(b, ','), name)
	return append(b, ':')
}

// appendJSON writes a text. Nearly all are plain; the library writes the others.
func appendJSON(b []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(text) // a string always has a form
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, text...)
	return append(b, '"')
}
