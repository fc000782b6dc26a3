// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"io"
	"os"
)

// replaceFile writes a file at once or not at all.
func replaceFile(path string, fill func(io.Writer) error) error {
	partial := path + ".partial"
	f, err := os.Create(partial)
	if err != nil {
		return err
	}
	err = errors.Join(fill(f), f.Close())
	if err == nil {
		err = os.Rename(partial, path)
	}
	if err != nil {
		_ = os.Remove(partial) // the error counts
	}
	return err
}
