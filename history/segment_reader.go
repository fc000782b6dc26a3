// SPDX-License-Identifier: Apache-2.0

package history

// segmentReader finds the blocks of a segment's file and what is missing between them.
type segmentReader struct {
	scan    *frameScanner
	finding *Finding
	part    *part // nil if the head is gone, so that nobody knows whose events these are

	rows     int64  // of all blocks found
	expected uint64 // number of the next event
	ordinal  uint64 // of the next block
	since    int    // stretches damaged after the latest block
	unpacker unpacker
}

func (s *segmentReader) read() {
	s.finding.NotClosed = true
	for s.scan.scan() {
		f := fields{rest: s.scan.payload}
		if !f.next() {
			continue
		}
		switch f.field {
		case frameBlock, framePacked:
			s.block()
		case frameFooter:
			s.footer(f.data)
		}
	}
	s.finding.Torn, s.finding.Damaged = s.scan.torn, s.finding.Damaged+s.scan.damaged
	s.since = s.scan.damaged - s.since
}

func (s *segmentReader) block() {
	v, err := s.unpacker.blockOf(s.scan.payload)
	if err != nil || v.first < s.expected || v.ordinal < s.ordinal {
		s.finding.Damaged++
		return
	}
	s.finding.Missing += int64(v.first - s.expected)
	s.expected, s.ordinal = v.first+uint64(v.n), v.ordinal+1
	s.since = s.scan.damaged
	s.rows += int64(v.n)
	if s.part != nil {
		at := s.scan.at + frameSize
		s.part.blocks = append(s.part.blocks, blockRef{at, int32(len(s.scan.payload)), int32(v.n), v.holds, v.begins()})
	}
}

func (s *segmentReader) footer(message []byte) {
	events := parseFooter(message)
	s.finding.NotClosed = false
	if events > s.expected {
		s.finding.Missing += int64(events - s.expected)
	}
	s.expected = max(s.expected, events)
}

// recover takes the events of the block that was open when the process died.
func (s *segmentReader) recover(path string) {
	if !s.finding.NotClosed {
		return
	}
	page, slots, err := readOpenBlock(path)
	ordinal := page.state >> stateBits
	switch {
	case err != nil:
		// Every damaged stretch was a block at most, and the open one is gone too.
		s.finding.Missing += int64(s.since+1) * maxRows
		return
	case ordinal+1 == s.ordinal:
		// Killed after the block was sealed, before its slots were emptied.
		slots = nil
	case ordinal > s.ordinal:
		s.finding.Missing += int64(min(ordinal-s.ordinal, 1<<32)) * maxRows
	case ordinal < s.ordinal:
		s.finding.Damaged++
		s.finding.Missing += maxRows
		return
	}
	if page.mapped == 0 {
		s.finding.Missing += int64(maxRows - len(slots))
	}
	s.finding.Missing += int64(page.dropped)
	s.finding.Recovered = len(slots)
	s.part.tail = slots
}
