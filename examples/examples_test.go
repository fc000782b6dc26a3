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

// examples lists every consumer, where it runs and what it is written for. What is wrong
// with the naive one, and the story that shows it, are in the documentation (stories_test.go).
var examples = []struct {
	name, engine string
	needs        []string
}{
	{"go-kafka", "kafka", nil},
	{"java-kafka", "kafka", []string{"java", "mvn"}},
	{"node-kafka", "kafka", []string{"node", "npm", "postgres"}},
	{"python-rabbitmq", "rabbitmq", []string{"python3", "postgres"}},
	{"python-sqs", "sqs", []string{"python3"}},
}

// TestExamples verifies them all at once: they wait for their brokers most of the time.
func TestExamples(t *testing.T) {
	testenv.Short(t, "an example takes half a minute")
	bin := filepath.Join(t.TempDir(), "harness")
	if out, err := exec.Command("go", "build", "-o", bin, "../cmd/harness").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	documented := documentedStories(t)
	for _, example := range examples {
		t.Run(example.name, func(t *testing.T) {
			t.Parallel()
			testenv.Need(t, example.engine)
			for _, need := range example.needs {
				if !here(need) {
					testenv.Lacks(t, need, "an example needs it")
				}
			}
			code, said := verify(t, bin, example.name, "naive")
			if code != 1 {
				t.Errorf("naive: exit %d, want 1\n%s", code, said)
			}
			if missing := documented[example.name].missingIn(said); missing != "" {
				t.Errorf("naive: %q is documented and was not said:\n%s", missing, said)
			}
			if code, said = verify(t, bin, example.name, "mended"); code != 0 {
				t.Errorf("mended: exit %d, want 0\n%s", code, said)
			}
		})
	}
}

// here tells whether a program can be run. A server of PostgreSQL is given, in a folder of
// its own where it comes from a package, or fetched by Maven.
func here(program string) bool {
	if program == "postgres" {
		found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // the pattern is well formed
		return os.Getenv("HARNESS_POSTGRES") != "" || len(found) > 0 || here("initdb") || here("mvn")
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
