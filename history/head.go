// SPDX-License-Identifier: Apache-2.0

package history

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// head is the first frame of every file: whose events or names it holds.
type head struct {
	version uint64 // 0 is as recorded
	process string
	number  uint16
	task    string
	names   bool // the file holds names, not events
}

// Versions of the files with frames: as they are recorded, and archived.
const (
	recordedVersion = 1
	archivedVersion = 2
)

func appendHead(b []byte, h head) []byte {
	b = appendTag(b, frameHead, wireBytes)
	start := len(b)
	b = appendNumber(b, 1, max(h.version, recordedVersion))
	b = appendText(b, 2, h.process)
	b = appendNumber(b, 3, uint64(h.number))
	b = appendText(b, 4, h.task)
	if h.names {
		b = appendNumber(b, 5, 1)
	}
	return wrap(b, start)
}

func parseHead(message []byte) (h head, err error) {
	f := fields{rest: message}
	for f.next() {
		switch f.field {
		case 1:
			h.version = f.number
		case 2:
			h.process = string(f.data)
		case 3:
			h.number = uint16(f.number)
		case 4:
			h.task = string(f.data)
		case 5:
			h.names = f.number != 0
		}
	}
	if f.bad {
		return h, errors.New("malformed head")
	}
	if h.version < recordedVersion || h.version > archivedVersion {
		return h, fmt.Errorf("format %d; this version reads %d and %d", h.version, recordedVersion, archivedVersion)
	}
	return h, nil
}

func appendFooter(b []byte, events, blocks uint64) []byte {
	b = appendTag(b, frameFooter, wireBytes)
	start := len(b)
	b = appendNumber(b, 1, events)
	b = appendNumber(b, 2, blocks)
	return wrap(b, start)
}

// parseFooter reads how many events a segment has; its blocks are for other readers.
func parseFooter(message []byte) (events uint64) {
	f := fields{rest: message}
	for f.next() {
		if f.field == 1 {
			events = f.number
		}
	}
	return events
}

// createFile begins a file that must not be there yet, and returns its size.
func createFile(path string, h head) (*os.File, int64, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, 0, fmt.Errorf("history: %w", err)
	}
	n, err := f.Write(endFrame(appendHead(beginFrame(nil), h)))
	if err != nil {
		f.Close()
		return nil, 0, fmt.Errorf("history: %w", err)
	}
	return f, int64(n), nil
}

const (
	segmentEnding = ".seg"
	openEnding    = ".open"
)

// segmentName is the name of a segment's file, without its ending.
func segmentName(h head) string {
	name := fmt.Sprintf("%03d-%s", h.number, fileName(h.task))
	if h.process != "" {
		name = fileName(h.process) + "-" + name
	}
	return name
}

// openPath is where the open block of a segment is.
func openPath(segment string) string { return strings.TrimSuffix(segment, segmentEnding) + openEnding }

// fileName keeps of a name what is safe in a file name anywhere.
func fileName(name string) string {
	safe := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '.':
			return r
		default:
			return '-'
		}
	}, name)
	return safe[:min(len(safe), 80)]
}
