// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// full takes nothing, like a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// TestNothingIsSaidToAFullDevice: whatever a verb prints, it fails where it cannot.
func TestNothingIsSaidToAFullDevice(t *testing.T) {
	dir := ran(t, "steady")
	run := filepath.Join(dir, "steady.inmem-kafka")
	lines := [][]string{
		{"help"},
		{"check", dir},
		{"check", "--quick", dir},
		{"check", "--json", dir},
		{"down", "--help"},
		{"explain", run, "p0/1"},
		{"explore", "steady", "--seeds", "1"},
		{"history", "export", run},
		{"list"},
		{"report", dir},
		{"run", "steady", "--on", "inmem:kafka", "--out", filepath.Join(t.TempDir(), "o")},
		{"selftest", "--cases", "../../conformance/cases.jsonl"},
		{"status", "--provider", "external"},
		{"up", "--help"},
		{"validate", "steady"},
		{"verify", "--init", "sqs"},
		{"version"},
	}
	for _, verb := range verbs(root()) {
		if !slices.ContainsFunc(lines, func(args []string) bool { return args[0] == verb }) {
			t.Errorf("nobody knows how %s prints", verb)
		}
	}
	for _, args := range lines {
		var errs strings.Builder
		cmd := root()
		cmd.SetArgs(args)
		code := execute(cmd, full{}, &errs)
		if code != exitFailed || !strings.Contains(errs.String(), "no space left") {
			t.Errorf("%q: exit %d, %q; want 3 and why", args, code, errs.String())
		}
	}
}
