// SPDX-License-Identifier: Apache-2.0

package history

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// The schema is read from schema.proto itself, and a block is decoded with it and the
// three rules alone: nothing of this package but the writer takes part.

var (
	messageLine = regexp.MustCompile(`^message (\w+) \{`)
	fieldLine   = regexp.MustCompile(`^\s+(repeated )?(\w+) (\w+) = (\d+);`)
)

func parseSchema(t *testing.T) protoreflect.FileDescriptor {
	t.Helper()
	f, err := os.Open("schema.proto")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	file := &descriptorpb.FileDescriptorProto{
		Name: proto.String("schema.proto"), Package: proto.String("harness.history.v1"), Syntax: proto.String("proto3"),
	}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if m := messageLine.FindStringSubmatch(lines.Text()); m != nil {
			file.MessageType = append(file.MessageType, &descriptorpb.DescriptorProto{Name: &m[1]})
		}
		if m := fieldLine.FindStringSubmatch(lines.Text()); m != nil {
			message := file.MessageType[len(file.MessageType)-1]
			message.Field = append(message.Field, schemaField(t, m))
		}
	}
	described, err := protodesc.NewFile(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	return described
}

func schemaField(t *testing.T, m []string) *descriptorpb.FieldDescriptorProto {
	t.Helper()
	number, err := strconv.Atoi(m[4])
	if err != nil {
		t.Fatal(err)
	}
	label := descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL
	if m[1] != "" {
		label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED
	}
	field := &descriptorpb.FieldDescriptorProto{Name: &m[3], Number: proto.Int32(int32(number)), Label: &label}
	if kind, ok := descriptorpb.FieldDescriptorProto_Type_value["TYPE_"+strings.ToUpper(m[2])]; ok {
		field.Type = descriptorpb.FieldDescriptorProto_Type(kind).Enum()
	} else {
		field.TypeName = proto.String(".harness.history.v1." + m[2])
	}
	return field
}

// foreignBlock is a block as another program decodes it.
type foreignBlock struct{ message protoreflect.Message }

func (b foreignBlock) field(name string) protoreflect.Value {
	return b.message.Get(b.message.Descriptor().Fields().ByName(protoreflect.Name(name)))
}

// column is rule 2: n entries, the last repeated.
func (b foreignBlock) column(name string, n int) []int64 {
	list := b.field(name).List()
	entries := make([]int64, n)
	for i := range entries {
		if list.Len() > 0 {
			entries[i] = list.Get(min(i, list.Len()-1)).Int()
		}
	}
	return entries
}

// kinds is rule 3.
func (b foreignBlock) kinds(n int) []byte {
	data := b.field("kinds").Bytes()
	follows := map[byte]byte{}
	var kinds []byte
	before := byte(0)
	add := func(k byte) {
		follows[before] = k
		kinds = append(kinds, k)
		before = k
	}
	for len(data) > 0 {
		gap, size := binary.Uvarint(data)
		for range gap {
			add(follows[before])
		}
		add(data[size])
		data = data[size+1:]
	}
	for len(kinds) < n {
		add(follows[before])
	}
	return kinds
}

// rows is rule 1: the values of every column of a kind, as name=value.
func (b foreignBlock) rows(n int) []string {
	rows := make([]string, n)
	columns := map[string][]int64{}
	for i := range b.message.Descriptor().Fields().Len() {
		name := string(b.message.Descriptor().Fields().Get(i).Name())
		if name == "kind" {
			continue
		}
		per := make([]int64, n)
		if context := map[string]string{"seq": "producer", "off": "place"}[name]; context != "" {
			per = columns[context]
		}
		sums := map[int64]int64{}
		columns[name] = b.column(name, n)
		for row, d := range columns[name] {
			sums[per[row]] += d
			columns[name][row] = sums[per[row]]
			rows[row] += fmt.Sprintf(" %s=%d", name, sums[per[row]])
		}
	}
	return rows
}

func describe(e *Event) string {
	text := fmt.Sprintf("%d %d", e.T, e.Kind)
	for i := range columns {
		text += fmt.Sprintf(" %s=%d", columns[i].name, columns[i].get(e))
	}
	return text
}

func TestSchemaReadsABlock(t *testing.T) {
	frame := parseSchema(t).Messages().ByName("Frame")
	var w encoder
	for _, events := range append(syntheticBlocks(2), simple(100)) {
		message := dynamicpb.NewMessage(frame)
		if err := proto.Unmarshal(w.block(nil, events, 5, 5*maxRows), message); err != nil {
			t.Fatal(err)
		}
		block := foreignBlock{foreignBlock{message}.field("block").Message()}
		if len(block.message.GetUnknown()) != 0 || block.field("ordinal").Uint() != 5 || block.field("first").Uint() != 5*maxRows {
			t.Fatalf("block %v", block)
		}
		got := decodeForeign(block)
		var want []string
		for i := range events {
			want = append(want, describe(&events[i]))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("read %d rows, the first %q, want %d, %q", len(got), got[0], len(want), want[0])
		}
	}
}

func decodeForeign(block foreignBlock) []string {
	n := int(block.field("n").Uint())
	kinds := block.kinds(n)
	counts := map[byte]int{}
	for _, k := range kinds {
		counts[k]++
	}
	rows := map[byte][]string{}
	for i := range block.field("rows").List().Len() {
		of := foreignBlock{block.field("rows").List().Get(i).Message()}
		k := byte(of.field("kind").Uint())
		rows[k] = of.rows(counts[k])
	}
	var all []string
	var now int64
	for i, d := range block.column("t", n) {
		now += d
		k := kinds[i]
		all = append(all, fmt.Sprintf("%d %d%s", now, k, rows[k][0]))
		rows[k] = rows[k][1:]
	}
	return all
}

func TestSchemaReadsEveryFrame(t *testing.T) {
	frame := parseSchema(t).Messages().ByName("Frame")
	for want, payload := range map[string][]byte{
		`head:{format:1 process:"p" number:3 task:"billing/0" names:true}`: appendHead(nil, head{process: "p", number: 3, task: "billing/0", names: true}),
		`footer:{events:10 blocks:2}`:                                      appendFooter(nil, 10, 2),
		`names:{name:{table:2 number:7 text:"customer-7"}}`:                appendName(nil, Keys, 7, "customer-7"),
	} {
		message := dynamicpb.NewMessage(frame)
		if err := proto.Unmarshal(payload, message); err != nil {
			t.Fatal(err)
		}
		// The library puts spaces at random, lest anybody compare its text.
		if got := strings.ReplaceAll(message.String(), "  ", " "); got != want {
			t.Errorf("frame = %s, want %s", got, want)
		}
	}
}
