// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/internal/testenv"
)

// TestVerifyKeepsSecrets: what a program is told in confidence is in no file of the results,
// nor in what is printed, though the program says it itself.
func TestVerifyKeepsSecrets(t *testing.T) {
	testenv.Need(t, "sqs")
	const secret, password = "correct-horse-battery", "hunter2-hunter2"
	t.Setenv(postgresVariable, "postgres://bob:"+password+"@127.0.0.1:1/none")
	out := filepath.Join(t.TempDir(), "verify")
	args := append([]string{"--on", "sqs", "--messages", "5", "--kill", "0", "--duplicate", "0", "--env", "TOKEN=" + secret,
		"--effects", "postgres", "--query", "select 'none', 0 where false"}, noted(`echo "$TOKEN at $HARNESS_POSTGRES"; exit 3`)...)
	code, said := verified(t, build(t), out, args...)
	if code != exitFailed || !strings.Contains(said, "it said: *** at ***") {
		t.Errorf("exit %d, want %d, and what the program said\n%s", code, exitFailed, said)
	}
	told := map[string][]byte{"what is printed": []byte(said)}
	err := filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		told[path], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for where, text := range told {
		for _, word := range []string{secret, password} {
			if bytes.Contains(text, []byte(word)) {
				t.Errorf("%q is in %s", word, where)
			}
		}
	}
	nothingLeft(t, out)
}
