// SPDX-License-Identifier: Apache-2.0

package history

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

const manifestName = "manifest.json"

// writeManifest replaces the manifest in one step: a crash leaves the old or the new one.
func writeManifest(dir string, h *Header) error {
	text, err := json.MarshalIndent(h, "", "  ")
	if err != nil {
		return fmt.Errorf("history: manifest: %w", err)
	}
	path := filepath.Join(dir, manifestName)
	if err := os.WriteFile(path+".new", append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("history: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("history: %w", err)
	}
	return nil
}

func readManifest(dir string) (Header, error) {
	var h Header
	path := filepath.Join(dir, manifestName)
	text, err := os.ReadFile(path)
	if err != nil {
		return h, fmt.Errorf("history: no run in %s: %w", dir, err)
	}
	if err := json.Unmarshal(text, &h); err != nil {
		return h, fmt.Errorf("history: %s: %w", path, err)
	}
	if h.Format < 1 || h.Format > FormatVersion {
		return h, fmt.Errorf("history: %s has format %d; this version reads 1 to %d", path, h.Format, FormatVersion)
	}
	return h, nil
}
