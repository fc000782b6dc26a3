// SPDX-License-Identifier: Apache-2.0

// Package examples holds consumers of orders in several languages, each of them once
// naive and once mended, and the test that verify catches the first and passes the second.
package examples

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/internal/testenv"
)

// examples lists every consumer: where it runs, what it is written for, and the line of
// the verdict that names what is wrong with the naive one.
var examples = []struct {
	name, engine string
	needs        []string
	caught       string
}{
	{"go-kafka", "kafka", nil, "looks like work before note"},
	{"java-kafka", "kafka", []string{"java", "mvn"}, "looks like settle before work"},
	{"node-kafka", "kafka", []string{"node", "npm", "postgres"}, "looks like no key, or the broker's id as the key"},
	{"python-rabbitmq", "rabbitmq", []string{"python3", "postgres"}, "looks like settle before work, or claim before work"},
	{"python-sqs", "sqs", []string{"python3"}, "looks like no key"},
}

func TestExamples(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "harness")
	if out, err := exec.Command("go", "build", "-o", bin, "../cmd/harness").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for _, example := range examples {
		t.Run(example.name, func(t *testing.T) {
			testenv.Short(t, "an example takes half a minute")
			testenv.Need(t, example.engine)
			for _, need := range example.needs {
				if !here(need) {
					testenv.Lacks(t, need, "an example needs it")
				}
			}
			code, said := verify(t, bin, example.name, "naive")
			if code != 1 || !strings.Contains(said, example.caught) {
				t.Errorf("naive: exit %d, want 1 and %q\n%s", code, example.caught, said)
			}
			if code, said = verify(t, bin, example.name, "mended"); code != 0 {
				t.Errorf("mended: exit %d, want 0\n%s", code, said)
			}
		})
	}
}

// here tells whether a program can be run; a server of PostgreSQL is in a folder of its own
// where it comes from a package.
func here(program string) bool {
	if program == "postgres" {
		found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // the pattern is well formed
		if os.Getenv("HARNESS_POSTGRES") != "" || len(found) > 0 {
			return true
		}
		program = "initdb"
	}
	_, err := exec.LookPath(program)
	return err == nil
}

func verify(t *testing.T, bin, name, mode string) (code int, said string) {
	t.Helper()
	cmd := exec.Command("./verify.sh", name, mode, "--out", filepath.Join(t.TempDir(), mode))
	cmd.Env = append(os.Environ(), "HARNESS="+bin)
	out, err := cmd.CombinedOutput()
	var exited *exec.ExitError
	if err != nil && !errors.As(err, &exited) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// TestEveryExampleIsTested: a folder that is not in the list is forgotten.
func TestEveryExampleIsTested(t *testing.T) {
	found, err := filepath.Glob("*/verify.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, example := range examples {
		listed = append(listed, filepath.Join(example.name, "verify.yaml"))
	}
	for _, path := range found {
		if !strings.Contains(strings.Join(listed, " "), path) {
			t.Errorf("%s is not tested", path)
		}
	}
	if len(found) != len(listed) {
		t.Errorf("%d examples are listed, %d are there", len(listed), len(found))
	}
}
