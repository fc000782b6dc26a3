// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-720a3c77/harness/checkers"
)

// WriteAll writes every format that has a file, except the results themselves, into a
// directory and returns the paths.
func WriteAll(dir string, results *checkers.Results) ([]string, error) {
	var written []string
	for _, f := range Formats() {
		if f.File == "" || f.Name == "json" {
			continue
		}
		path := filepath.Join(dir, f.File)
		if err := WriteFile(path, f, results); err != nil {
			return written, err
		}
		written = append(written, path)
	}
	return written, nil
}

// WriteFile renders into a file; a reader never sees half of one. What is no plain file, such
// as /dev/stdout, a pipe or a link, is written to as it is, and never replaced.
func WriteFile(path string, f Format, results *checkers.Results) error {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return fill(path, f, results)
	}
	partial := path + ".partial"
	if err := fill(partial, f, results); err != nil {
		_ = os.Remove(partial) // perhaps it was never there
		return err
	}
	if err := os.Rename(partial, path); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

func fill(path string, f Format, results *checkers.Results) error {
	out, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	w := bufio.NewWriter(out)
	if err := errors.Join(f.Write(w, results), w.Flush(), out.Close()); err != nil {
		return fmt.Errorf("report %s: %w", f.Name, err)
	}
	return nil
}
