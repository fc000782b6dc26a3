// SPDX-License-Identifier: Apache-2.0

package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/seed-720a3c77/harness/msg"
)

// Import makes the run in dir, which must not exist, from JSON Lines. It is strict: a
// field, kind, task or word that it does not know is refused with the number of its line,
// and so is a line of more than a megabyte (16 for the first). After an error dir is gone
// again.
func Import(r io.Reader, dir string) error {
	in := importer{lines: bufio.NewScanner(r), forms: newJSONForms()}
	in.lines.Buffer(nil, maxJSONHeader)
	head, err := in.head()
	if err != nil {
		return err
	}
	if in.recording, err = Create(dir, *head.Header); err != nil {
		return err
	}
	err = errors.Join(in.all(head), in.recording.Close())
	if err != nil {
		os.RemoveAll(dir)
	}
	return err
}

type importer struct {
	lines     *bufio.Scanner
	line      int
	forms     [Kinds]jsonForm
	recording *Recording
	segments  map[string]*Segment
}

// scan goes to the next line that is not blank.
func (in *importer) scan() bool {
	for in.lines.Scan() {
		in.line++
		if len(bytes.TrimSpace(in.lines.Bytes())) > 0 {
			return true
		}
	}
	return false
}

func (in *importer) head() (head jsonHead, err error) {
	if !in.scan() {
		if in.lines.Err() != nil {
			return head, in.end()
		}
		return head, lineError(1, "want {\"schema\":%q,...}, found nothing", jsonSchema)
	}
	decoder := json.NewDecoder(bytes.NewReader(in.lines.Bytes()))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&head); err != nil {
		return head, lineError(in.line, "%w", err)
	}
	if head.Schema != jsonSchema {
		return head, lineError(in.line, "schema %q; this version reads %q", head.Schema, jsonSchema)
	}
	if head.Header == nil || len(head.Tasks) == 0 && head.Missing > 0 || head.Missing < 0 {
		return head, lineError(in.line, "want a header, and tasks where events are missing")
	}
	return head, nil
}

func (in *importer) all(head jsonHead) error {
	if err := in.begin(head); err != nil {
		return err
	}
	events := int64(0)
	for in.scan() {
		if err := in.event(); err != nil {
			return lineError(in.line, "%w", err)
		}
		events++
	}
	if in.lines.Err() != nil {
		return in.end()
	}
	if head.Events != nil && *head.Events != events {
		return lineError(in.line, "the file ends after %d events, but line 1 says %d", events, *head.Events)
	}
	return nil
}

// begin makes a segment for each task. What the run lacked, it lacks here too.
func (in *importer) begin(head jsonHead) (err error) {
	in.segments = map[string]*Segment{}
	for _, task := range head.Tasks {
		if in.segments[task] != nil {
			return lineError(in.line, "task %q is listed twice", task)
		}
		if in.segments[task], err = in.recording.Segment(task); err != nil {
			return err
		}
	}
	if head.Missing > 0 {
		in.segments[head.Tasks[0]].dropped = uint64(head.Missing)
	}
	return nil
}

// end is why the lines ended.
func (in *importer) end() error {
	if errors.Is(in.lines.Err(), bufio.ErrTooLong) {
		return lineError(in.line+1, "longer than %d bytes", maxJSONHeader)
	}
	return fmt.Errorf("history: import: %w", in.lines.Err())
}

func (in *importer) event() error {
	if len(in.lines.Bytes()) > maxJSONLine {
		return fmt.Errorf("longer than %d bytes", maxJSONLine)
	}
	values, err := jsonValues(in.lines.Bytes())
	if err != nil {
		return err
	}
	var e Event
	if e.Kind, err = takeKind(values); err != nil {
		return err
	}
	segment, err := in.takeTask(values)
	if err != nil {
		return err
	}
	if err := values.take("t").number(&e.T); err != nil {
		return fmt.Errorf("t: %w", err)
	}
	for _, field := range values.fields {
		if err := in.field(&e, field.name, field.value); err != nil {
			return fmt.Errorf("%s: %s: %w", e.Kind, field.name, err)
		}
	}
	segment.Append(&e)
	return in.recording.Err()
}

func takeKind(values *jsonObject) (Kind, error) {
	var name string
	if err := values.take("kind").text(&name); err != nil {
		return NoKind, fmt.Errorf("kind: %w", err)
	}
	k := Kind(slices.Index(kindNames[:], name))
	if k == NoKind || k >= Kinds {
		return NoKind, fmt.Errorf("unknown kind %q (there are %s)", name, strings.Join(kindNames[1:], ", "))
	}
	return k, nil
}

func (in *importer) takeTask(values *jsonObject) (*Segment, error) {
	var name string
	if err := values.take("task").text(&name); err != nil {
		return nil, fmt.Errorf("task: %w", err)
	}
	segment := in.segments[name]
	if segment == nil {
		return nil, fmt.Errorf("task %q is not listed in line 1", name)
	}
	return segment, nil
}

func (in *importer) field(e *Event, name string, value jsonValue) error {
	form := in.forms[e.Kind]
	field, known := form.find(name)
	if !known {
		return fmt.Errorf("unknown field (there are %s)", form)
	}
	if field.column == noColumn {
		return setID(e, value)
	}
	if table, named := jsonTable(field.column); named {
		var text string
		err := value.text(&text)
		columns[field.column].set(e, int64(in.recording.Intern(table, text)))
		return err
	}
	if field.column == flagsColumn {
		return setFlags(e, value)
	}
	return setNumber(e, field.column, value)
}

func setID(e *Event, value jsonValue) error {
	var text string
	if err := value.text(&text); err != nil {
		return err
	}
	id, err := msg.ParseID(text)
	e.Producer, e.Seq = id.Producer, id.Seq
	return err
}

func setFlags(e *Event, value jsonValue) error {
	var names []string
	if err := json.Unmarshal(value, &names); err != nil {
		return fmt.Errorf("want a list of texts, found %s", value)
	}
	for _, name := range names {
		i := slices.Index(flagNames[:], name)
		if i < 0 {
			return fmt.Errorf("unknown flag %q (there are %s)", name, strings.Join(flagNames[:], ", "))
		}
		e.Flags |= 1 << i
	}
	return nil
}

// setNumber also takes a word where the numbers of a column have some.
func setNumber(e *Event, column int, value jsonValue) error {
	c := &columns[column]
	words := jsonWords(column)
	var text string
	if words != nil && value.text(&text) == nil {
		i := slices.Index(words, text)
		if i < 0 {
			return fmt.Errorf("unknown word %q (there are %s)", text, strings.Join(words, ", "))
		}
		c.set(e, int64(i))
		return nil
	}
	var n int64
	if err := value.number(&n); err != nil {
		return err
	}
	c.set(e, n)
	if c.get(e) != n {
		return fmt.Errorf("%d is out of range", n)
	}
	return nil
}
