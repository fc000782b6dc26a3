// SPDX-License-Identifier: Apache-2.0

package history

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"os"
)

const (
	frameMagic = "HIS1"
	frameSize  = 12 // of magic, length and checksum
	maxPayload = 16 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// beginFrame makes room for what endFrame fills in.
func beginFrame(b []byte) []byte { return append(b, make([]byte, frameSize)...) }

// endFrame completes the frame that b is.
func endFrame(b []byte) []byte {
	payload := b[frameSize:]
	copy(b, frameMagic)
	binary.LittleEndian.PutUint32(b[4:], uint32(len(payload)))
	binary.LittleEndian.PutUint32(b[8:], crc32.Checksum(payload, castagnoli))
	return b
}

// frameScanner walks over the frames of a file. A frame that is damaged is skipped by
// looking for the next that is whole.
type frameScanner struct {
	file io.ReaderAt
	size int64

	at      int64  // where the frame begins
	payload []byte // of the frame, valid until the next
	damaged int    // stretches that were skipped
	frames  int    // that were whole
	heads   uint32 // checksum of theirs
	torn    int64  // bytes at the end that are no whole frame

	head [frameSize]byte
	next int64
	err  error
}

// openFrames scans a file from its beginning; the caller closes it.
func openFrames(path string) (*frameScanner, *os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return &frameScanner{file: f, size: info.Size()}, f, nil
}

// scan goes to the next whole frame. It is false at the end and on an error of reading.
func (s *frameScanner) scan() bool {
	for s.err == nil && s.next < s.size {
		if s.read(s.next) {
			s.step()
			return true
		}
		found := s.search(s.next + 1)
		if found < 0 {
			s.torn = s.size - s.next
			return false
		}
		s.damaged++
		s.next = found
	}
	return false
}

// step goes behind the frame that was read.
func (s *frameScanner) step() {
	s.at, s.next = s.next, s.next+frameSize+int64(len(s.payload))
	s.frames++
	s.heads = crc32.Update(s.heads, castagnoli, s.head[:])
}

// read reads the frame at an offset; it is false if there is no whole one.
func (s *frameScanner) read(at int64) bool {
	head := s.head[:]
	if s.size-at < frameSize || !s.fill(head, at) || string(head[:4]) != frameMagic {
		return false
	}
	length := int64(binary.LittleEndian.Uint32(head[4:]))
	if length > maxPayload || length > s.size-at-frameSize {
		return false
	}
	s.payload = resize(s.payload, int(length))
	return s.fill(s.payload, at+frameSize) &&
		crc32.Checksum(s.payload, castagnoli) == binary.LittleEndian.Uint32(head[8:])
}

// search returns the offset of the first whole frame from at on, or -1.
func (s *frameScanner) search(at int64) int64 {
	window := make([]byte, 64<<10)
	for s.err == nil && s.size-at >= frameSize {
		part := window[:min(int64(len(window)), s.size-at)]
		if !s.fill(part, at) {
			return -1
		}
		i := bytes.Index(part, []byte(frameMagic))
		if i < 0 {
			at += int64(len(part)) - int64(len(frameMagic)) + 1
			continue
		}
		if at += int64(i); s.read(at) {
			return at
		}
		at++
	}
	return -1
}

func (s *frameScanner) fill(b []byte, at int64) bool {
	n, err := s.file.ReadAt(b, at)
	if n == len(b) {
		return true
	}
	if err != io.EOF {
		s.err = err
	}
	return false
}

// resize returns a slice of n bytes, in b's memory if it is enough.
func resize(b []byte, n int) []byte {
	if cap(b) < n {
		b = make([]byte, n+n/4)
	}
	return b[:n]
}
