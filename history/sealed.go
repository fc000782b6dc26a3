// SPDX-License-Identifier: Apache-2.0

package history

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-720a3c77/harness/internal/regular"
)

// sealedFile is what a manifest says of a file of its run, so that one that is gone, cut
// or another one is noticed. What is within a frame has a checksum of its own.
type sealedFile struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
	// Frames is how many there are, and Checksum the CRC-32C of their heads.
	Frames   int    `json:"frames"`
	Checksum uint32 `json:"checksum"`
	// Closed: its process wrote all of it; else Open is the CRC-32C of its open block.
	Closed bool   `json:"closed,omitempty"`
	Open   uint32 `json:"open,omitempty"`
}

// sealFiles lists the files of a directory as they are.
func sealFiles(dir string) ([]sealedFile, error) {
	names, err := segmentFiles(dir)
	if err != nil {
		return nil, err
	}
	files := make([]sealedFile, 0, len(names))
	for _, name := range names {
		file, err := sealFile(filepath.Join(dir, name))
		if err != nil {
			return nil, fmt.Errorf("history: %s: %w", name, err)
		}
		files = append(files, file)
	}
	return files, nil
}

// segmentFiles are the names of a run's files with frames, in order.
func segmentFiles(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	for _, entry := range entries {
		if entry.Type().IsRegular() && strings.HasSuffix(entry.Name(), segmentEnding) {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// sealFile walks over the heads of a file's frames.
func sealFile(path string) (sealed sealedFile, err error) {
	f, err := os.Open(path)
	if err != nil {
		return sealed, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return sealed, err
	}
	sealed = sealedFile{Name: filepath.Base(path), Bytes: info.Size()}
	if err := sealed.walk(f); err != nil || sealed.Closed {
		return sealed, err
	}
	sealed.Open, err = openChecksum(path)
	return sealed, err
}

func (f *sealedFile) walk(file io.ReaderAt) error {
	var head [frameSize + 1]byte // and the tag of its content
	for at := int64(0); at+int64(len(head)) <= f.Bytes; {
		if _, err := file.ReadAt(head[:], at); err != nil {
			return err
		}
		if at += frameSize + int64(binary.LittleEndian.Uint32(head[4:])); at > f.Bytes {
			return nil // torn off when its process died
		}
		f.Frames++
		f.Checksum = crc32.Update(f.Checksum, castagnoli, head[:frameSize])
		f.Closed = head[frameSize] == frameFooter<<3|wireBytes
	}
	return nil
}

// openChecksum is that of the open block beside a segment, 0 if it has none.
func openChecksum(segment string) (uint32, error) {
	content, err := regular.Read(openPath(segment), openSize)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	return crc32.Checksum(content, castagnoli), err
}

// same tells whether a file that was read is the one that was listed. One that was not
// closed then may have been since.
func (f *sealedFile) same(path string, scan *frameScanner, closed bool) bool {
	if closed && !f.Closed {
		return scan.size >= f.Bytes && scan.frames >= f.Frames
	}
	if scan.size != f.Bytes || scan.frames != f.Frames || scan.heads != f.Checksum {
		return false
	}
	if f.Closed {
		return true
	}
	sum, err := openChecksum(path)
	return err == nil && sum == f.Open
}

// compare notes in its finding that a file is not the one that was listed.
func (f *sealedFile) compare(path string, scan *frameScanner, finding *Finding) {
	if !f.same(path, scan, !finding.NotClosed) && finding.complete() {
		finding.Altered = true
		finding.Missing = 1
	}
}

// gone is the finding of a file that is listed and not there.
func (f *sealedFile) gone() Finding {
	return Finding{File: f.Name, Gone: true, Missing: int64(f.Frames) * maxRows}
}
