// SPDX-License-Identifier: Apache-2.0

package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"github.com/seed-720a3c77/harness/internal/regular"
)

const (
	manifestName = "manifest.json"
	maxManifest  = 64 << 20 // bytes that are read back
)

// manifest is the file as it is written. Its last line but one is the checksum: CRC-32C
// of the file with zeros for its eight digits.
type manifest struct {
	Header
	Files    []sealedFile `json:"files,omitempty"`
	Checksum string       `json:"checksum,omitempty"`
}

const (
	checksumZero  = "crc32c:00000000"
	checksumTail  = `"` + "\n}\n" // what follows its digits
	checksumStart = `"checksum": "crc32c:`
)

// writeManifest replaces the manifest in one step: a crash leaves the old or the new one.
func writeManifest(dir string, h *Header, files []sealedFile) error {
	text, err := json.MarshalIndent(manifest{*h, files, checksumZero}, "", "  ")
	if err != nil {
		return fmt.Errorf("history: manifest: %w", err)
	}
	text = append(text, '\n')
	copy(checksumDigits(text), fmt.Sprintf("%08x", crc32.Checksum(text, castagnoli)))
	path := filepath.Join(dir, manifestName)
	if err := os.WriteFile(path+".new", text, 0o644); err != nil {
		return fmt.Errorf("history: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("history: %w", err)
	}
	return nil
}

func readManifest(dir string) (m manifest, err error) {
	path := filepath.Join(dir, manifestName)
	text, err := regular.Read(path, maxManifest)
	if err != nil {
		return m, fmt.Errorf("history: no run in %s: %w", dir, err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("history: %s: %w", path, err)
	}
	if m.Format < 1 || m.Format > FormatVersion {
		return m, fmt.Errorf("history: %s has format %d; this version reads 1 to %d", path, m.Format, FormatVersion)
	}
	if m.Format > 1 && !checksumHolds(text) {
		return m, fmt.Errorf("history: %s: %w", path, errChecksum)
	}
	return m, nil
}

var errChecksum = errors.New("its checksum does not hold: it was damaged, or changed by hand")

// checksumHolds tells whether a manifest is as it was written.
func checksumHolds(text []byte) bool {
	digits := checksumDigits(text)
	if digits == nil {
		return false
	}
	blank := bytes.Clone(text)
	copy(checksumDigits(blank), checksumZero[len("crc32c:"):])
	return string(digits) == fmt.Sprintf("%08x", crc32.Checksum(blank, castagnoli))
}

// checksumDigits finds the digits at the end of a manifest, nil if there are none.
func checksumDigits(text []byte) []byte {
	end := len(text) - len(checksumTail)
	begin := end - 8
	if begin < len(checksumStart) || string(text[end:]) != checksumTail || string(text[begin-len(checksumStart):begin]) != checksumStart {
		return nil
	}
	return text[begin:end]
}
