// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/internal/regular"
	"github.com/seed-720a3c77/harness/internal/suite"
	"github.com/seed-720a3c77/harness/reports"
)

func reportVerb() *cobra.Command {
	var format, out string
	cmd := &cobra.Command{
		Use:   "report RESULTS",
		Short: "render results again: a results.json or the directory it is in",
		Args:  exactly(1, "one results.json, or the directory it is in"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := reports.Find(format)
			if err != nil {
				return usage(err)
			}
			results, err := readResults(args[0])
			if err != nil {
				return usage(err)
			}
			return write(cmd.OutOrStdout(), out, f, results)
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text, html, md, junit or json")
	cmd.Flags().StringVarP(&out, "output", "o", "", "file; empty prints")
	return cmd
}

func write(w io.Writer, out string, f reports.Format, results *checkers.Results) error {
	if out == "" {
		return f.Write(w, results)
	}
	return reports.WriteFile(out, f, results)
}

// maxResults bounds what is read back, in bytes.
const maxResults = 256 << 20

func readResults(path string) (*checkers.Results, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	if info.IsDir() {
		return readResults(filepath.Join(path, suite.ResultsFile))
	}
	text, err := regular.Read(path, maxResults)
	if err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	results := new(checkers.Results)
	if err := json.Unmarshal(text, results); err != nil {
		return nil, fmt.Errorf("results: %s: %w", path, err)
	}
	if results.Schema != checkers.Schema {
		return nil, fmt.Errorf("results: %s has schema %q, this is %q", path, results.Schema, checkers.Schema)
	}
	return results, nil
}
