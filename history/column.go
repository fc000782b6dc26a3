// SPDX-License-Identifier: Apache-2.0

package history

import "unsafe"

// column is one field of an Event as it is stored: the one table that writer and reader
// go by. Kinds need none: a column that is all 0 for a kind is absent.
type column struct {
	field  uint64 // in the message Rows of schema.proto
	name   string
	offset uintptr
	width  uintptr
	per    int // index of the column whose values have a sum each; -1 for one sum
}

// Indexes of the table, in the order in which columns are decoded: what a sum is kept
// per comes first.
const (
	noColumn       = iota - 1
	producerColumn // 0
	placeColumn
	seqColumn
	offColumn
	dColumn
	untilColumn
	sessionColumn
	keyColumn
	opColumn
	countColumn
	crcColumn
	textColumn
	genColumn
	attemptColumn
	answerColumn
	classColumn
	flagsColumn
	verbColumn
)

var columns = [...]column{
	producerColumn: {2, "producer", unsafe.Offsetof(Event{}.Producer), 4, noColumn},
	placeColumn:    {3, "place", unsafe.Offsetof(Event{}.Place), 4, noColumn},
	seqColumn:      {4, "seq", unsafe.Offsetof(Event{}.Seq), 8, producerColumn},
	offColumn:      {5, "off", unsafe.Offsetof(Event{}.Off), 8, placeColumn},
	dColumn:        {6, "d", unsafe.Offsetof(Event{}.D), 8, noColumn},
	untilColumn:    {7, "until", unsafe.Offsetof(Event{}.Until), 8, noColumn},
	sessionColumn:  {8, "session", unsafe.Offsetof(Event{}.Session), 4, noColumn},
	keyColumn:      {9, "key", unsafe.Offsetof(Event{}.Key), 4, noColumn},
	opColumn:       {10, "op", unsafe.Offsetof(Event{}.Op), 4, noColumn},
	countColumn:    {11, "count", unsafe.Offsetof(Event{}.N), 4, noColumn},
	crcColumn:      {12, "crc", unsafe.Offsetof(Event{}.CRC), 4, noColumn},
	textColumn:     {13, "text", unsafe.Offsetof(Event{}.Text), 4, noColumn},
	genColumn:      {14, "gen", unsafe.Offsetof(Event{}.Gen), 4, noColumn},
	attemptColumn:  {15, "attempt", unsafe.Offsetof(Event{}.Attempt), 2, noColumn},
	answerColumn:   {16, "answer", unsafe.Offsetof(Event{}.Answer), 1, noColumn},
	classColumn:    {17, "class", unsafe.Offsetof(Event{}.Class), 1, noColumn},
	flagsColumn:    {18, "flags", unsafe.Offsetof(Event{}.Flags), 1, noColumn},
	verbColumn:     {19, "verb", unsafe.Offsetof(Event{}.Verb), 1, noColumn},
}

// columnOf returns the index of the column stored in a field of Rows, or noColumn.
func columnOf(field uint64) int {
	if i := int(field) - 2; i >= 0 && i < len(columns) {
		return i
	}
	return noColumn
}

// Fields says which fields of an event a reader wants; the others may be 0. Kind is
// always there.
type Fields uint32

// The fields by their names in Event. One that is stored by another (Seq by Producer, Off
// by Place) brings that along.
const (
	FieldT        Fields = 1 << 31
	FieldProducer Fields = 1 << producerColumn
	FieldPlace    Fields = 1 << placeColumn
	FieldSeq      Fields = 1<<seqColumn | FieldProducer
	FieldOff      Fields = 1<<offColumn | FieldPlace
	FieldD        Fields = 1 << dColumn
	FieldUntil    Fields = 1 << untilColumn
	FieldSession  Fields = 1 << sessionColumn
	FieldKey      Fields = 1 << keyColumn
	FieldOp       Fields = 1 << opColumn
	FieldN        Fields = 1 << countColumn
	FieldCRC      Fields = 1 << crcColumn
	FieldText     Fields = 1 << textColumn
	FieldGen      Fields = 1 << genColumn
	FieldAttempt  Fields = 1 << attemptColumn
	FieldAnswer   Fields = 1 << answerColumn
	FieldClass    Fields = 1 << classColumn
	FieldFlags    Fields = 1 << flagsColumn
	FieldVerb     Fields = 1 << verbColumn

	AllFields = ^Fields(0)
)

func (f Fields) hasColumn(i int) bool { return f&(1<<i) != 0 }
