// SPDX-License-Identifier: Apache-2.0

package history

import (
	"cmp"
	"fmt"
	"io"
	"os"
)

// cursor walks over the events of one part, a block at a time.
type cursor struct {
	part    *part
	want    KindSet
	fields  Fields
	file    *os.File // nil in memory
	reader  *blockReader
	payload []byte
	next    int // block
	tailed  bool
	events  []Event // of the block, from the current one on
	memory  []Event // for those of a block, or a part of the tail
}

// blockReader is what cursors that read by turns share, so that it stays near a processor.
type blockReader struct {
	unpacker unpacker
	decoder  decoder
}

func newCursor(p *part, want KindSet, fields Fields, r *blockReader) (*cursor, error) {
	c := &cursor{reader: r}
	return c, c.begin(p, want, fields)
}

// begin goes to the first event of a part.
func (c *cursor) begin(p *part, want KindSet, fields Fields) error {
	c.part, c.want, c.fields, c.next, c.tailed, c.events = p, want, fields, 0, false, nil
	if len(p.blocks) == 0 || p.path == "" {
		return nil
	}
	file, err := os.Open(p.path)
	if err != nil {
		return fmt.Errorf("history: %w", err)
	}
	c.file = file
	return nil
}

// fill gets the next events; there are none at the end.
func (c *cursor) fill() error {
	for len(c.events) == 0 && c.next < len(c.part.blocks) {
		i := c.next
		c.next++
		if c.part.blocks[i].kinds&c.want == 0 {
			continue
		}
		if err := c.decode(i); err != nil {
			return err
		}
	}
	if len(c.events) == 0 && !c.tailed {
		c.tailed = true
		c.events = c.part.tail
		if c.want != AllKinds {
			c.memory = only(c.memory[:0], c.part.tail, c.want)
			c.events = c.memory
		}
	}
	return nil
}

// only appends the events of the kinds wanted. The events themselves stay as they are.
func only(kept, events []Event, want KindSet) []Event {
	for i := range events {
		if want.Has(events[i].Kind) {
			kept = append(kept, events[i])
		}
	}
	return kept
}

// decode gets the events of a block.
func (c *cursor) decode(i int) error {
	if err := c.decodeBlock(i); err != nil {
		return fmt.Errorf("history: segment %s: block %d: %w", c.part.head.task, i, err)
	}
	return nil
}

func (c *cursor) decodeBlock(i int) error {
	payload, err := c.read(i)
	if err != nil {
		return err
	}
	view, err := c.reader.unpacker.blockOf(payload)
	if err != nil {
		return err
	}
	if c.memory, err = c.reader.decoder.block(c.memory, view, c.want, c.fields, c.part.task); err != nil {
		return err
	}
	c.events = c.memory
	c.part.refs.rename(c.events)
	return nil
}

func (c *cursor) read(i int) ([]byte, error) {
	if c.file == nil {
		return c.part.payloads[i], nil
	}
	b := c.part.blocks[i]
	c.payload = resize(c.payload, int(b.size))
	if n, err := c.file.ReadAt(c.payload, b.at); n < len(c.payload) {
		return nil, cmp.Or(err, io.ErrUnexpectedEOF)
	}
	return c.payload, nil
}

func (c *cursor) close() {
	if c.file != nil {
		c.file.Close()
		c.file = nil
	}
}
