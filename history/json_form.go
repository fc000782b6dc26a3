// SPDX-License-Identifier: Apache-2.0

package history

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-720a3c77/harness/contract"
)

// The JSON Lines form is for interchange: it is read with any tool and written by other
// programs. It does not change but for its version.
//
// Line 1 tells about the run; header is the manifest, tasks are in the order in which
// events at the same time are merged, events and missing may be left out:
//
//	{"schema":"harness.history/1","header":{...},"tasks":["orders/0","billing/0"],"events":2}
//
// Every other line is one event, in the merged order. t is in nanoseconds since the start
// of the run. The other fields are those of its kind (jsonForms); names stand as texts,
// a field that is left out is 0 or empty:
//
//	{"t":1000,"task":"orders/0","kind":"publish-start","id":"p0/17","attempt":1,...}
//
// A field of the Event that the kind does not name stands under the column's own name if
// it is not 0, so that nothing is lost on the way.
const jsonSchema = "harness.history/1"

const (
	maxJSONLine   = 1 << 20
	maxJSONHeader = 16 << 20
)

// jsonForms lists the fields of each kind: "name=column", or the column alone where it
// is called the same; "id" is producer and seq.
var jsonForms = [Kinds]string{
	PublishStart:    "id attempt session to=place key op size=count crc late_ns=d",
	PublishAccepted: "id attempt session op took_ns=d",
	PublishAnswer:   "id attempt session op answer class place off took_ns=d client_attempts=count error=text",
	Decision:        "id attempt decided=text",
	Receive:         "session messages=count took_ns=d class error=text",
	Delivery:        "id attempt session place off key op delivery_count=count age_ns=d until_ns=until gen flags",
	HandlerStart:    "id session op run=count",
	HandlerEnd:      "id session op took_ns=d flags error=text",
	EffectIntent:    "id session op store=place",
	EffectResult:    "id session op store=place class times=count flags",
	SettleStart:     "id session op place off verb until_ns=until",
	SettleAnswer:    "id session op place off verb answer class took_ns=d until_ns=until error=text",
	SessionOpen:     "session gen producer_session=count",
	SessionClose:    "session flags cause=text",
	Assign:          "session place off gen why=text",
	Revoke:          "session place gen flags",
	Seek:            "session place off",
	Pause:           "session place",
	Resume:          "session place",
	Retried:         "session why=text",
	Blocked:         "session why=text",
	Unblocked:       "session",
	TxnBegin:        "session op",
	TxnCommit:       "session op answer class took_ns=d error=text",
	TxnAbort:        "session op answer class took_ns=d error=text",
	DepthQueue:      "place ready=seq in_flight=off delayed=until took_ns=d",
	DepthLog:        "place session committed=seq end=off stable=until took_ns=d",
	FaultRequested:  "fault=op name=text",
	FaultActive:     "fault=op name=text",
	FaultHealed:     "fault=op name=text",
	FaultRecovered:  "fault=op name=text",
	Phase:           "name=text",
	Audit:           "id place off delivery_count=count",
	AuditEnd:        "place messages=count class why=text",
	Drained:         "class why=text",
	CallOverrun:     "session late_ns=d call=text",
	Dropped:         "events=count",
	Interrupted:     "why=text",
	WorkerStart:     "session name=text",
	WorkerEnd:       "session name=text flags",
	EffectFound:     "id session times=count",
	EffectsRead:     "session ids=count class why=text",
}

// jsonField is one field of a kind's form.
type jsonField struct {
	name   string
	column int // noColumn is the id
	always bool
}

// jsonForm is every field that an event of a kind may have, in order.
type jsonForm []jsonField

// newJSONForms reads the table. What a kind does not name follows under its own name.
func newJSONForms() (forms [Kinds]jsonForm) {
	for k, text := range jsonForms {
		var form jsonForm
		for word := range strings.FieldsSeq(text) {
			form = append(form, newJSONField(word))
		}
		for c := range columns {
			if !form.has(c) {
				form = append(form, jsonField{name: columns[c].name, column: c})
			}
		}
		forms[k] = form
	}
	return forms
}

func newJSONField(word string) jsonField {
	name, stored, renamed := strings.Cut(word, "=")
	if !renamed {
		stored = name
	}
	i := slices.IndexFunc(columns[:], func(c column) bool { return c.name == stored })
	return jsonField{name: name, column: i, always: true}
}

func (f jsonForm) has(column int) bool {
	return slices.ContainsFunc(f, func(field jsonField) bool {
		isID := field.column == noColumn && (column == producerColumn || column == seqColumn)
		return field.column == column || isID
	})
}

// find returns the field of a name.
func (f jsonForm) find(name string) (jsonField, bool) {
	i := slices.IndexFunc(f, func(field jsonField) bool { return field.name == name })
	if i < 0 {
		return jsonField{}, false
	}
	return f[i], true
}

func (f jsonForm) String() string {
	var names []string
	for _, field := range f {
		if field.always {
			names = append(names, field.name)
		}
	}
	return strings.Join(names, ", ")
}

var flagNames = [8]string{"redelivered", "corrupt", "foreign", "failed", "skipped", "refused", "crashed", "lost"}

var verbNames = [...]string{
	VerbAck: "ack", VerbRequeue: "requeue", VerbReject: "reject", VerbExtend: "extend", VerbCommit: "commit", VerbMark: "mark",
}

// jsonWords are the texts of a column whose numbers have names, from 0.
func jsonWords(column int) []string {
	switch column {
	case answerColumn:
		return wordsOf(contract.Answer.String)
	case classColumn:
		return wordsOf(contract.Class.String)
	case verbColumn:
		return append([]string{""}, verbNames[1:]...)
	default:
		return nil
	}
}

func wordsOf[T ~uint8](name func(T) string) (words []string) {
	for i := range T(255) {
		if name(i) == "invalid" {
			break
		}
		words = append(words, name(i))
	}
	return words
}

// jsonTable is the table of the names in a column; ok is false if it holds none.
func jsonTable(column int) (table Table, ok bool) {
	switch column {
	case sessionColumn:
		return Sessions, true
	case placeColumn:
		return Places, true
	case keyColumn:
		return Keys, true
	case textColumn:
		return Texts, true
	default:
		return 0, false
	}
}

// lineError says where a file in the JSON form is wrong.
func lineError(line int, format string, args ...any) error {
	return fmt.Errorf("history: line %d: "+format, append([]any{line}, args...)...)
}
