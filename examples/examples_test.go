// SPDX-License-Identifier: Apache-2.0

// Package examples holds consumers of orders in several languages, each of them once
// naive and once mended, and the test that verify catches the first and passes the second.
package examples

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/internal/testenv"
)

// examples lists every consumer, where it runs and what it is written for. What is wrong
// with the naive one, and the story that shows it, are in the documentation (stories_test.go).
//
// Each is caught whatever the machine. All messages are published at the beginning, so that
// everybody is at work when a fault strikes, and verify strikes while a standstill shows
// that something is in hand. What must be true at that instant, and how likely it is not:
//
//	node-kafka, python-sqs: nothing. Messages that are stored twice are paid twice, always.
//	java-kafka: an offset is committed and its order not paid, when all workers are killed.
//	    The standstill shows just that, and it is so for all but the 5 ms of a commit in
//	    400 ms. Only after 8 looks in vain does verify strike without: for two workers, if
//	    a commit takes a third of the time (a machine forty times slower), both
//	    do at (1/9)^8 of the strikes, and at both of a run below 1e-15.
//	go-kafka: one of the partitions with work left is between payment and note, 400 ms of
//	    410, or of 500 if every commit to the disk takes 50 ms, when all workers are
//	    killed. Three times, of 3, 2 and 2 partitions: (1/41)^7, below 1e-11, or (1/5)^7,
//	    about 1e-5. Of 58 runs on two cores with a load of 45, 56 hit 7 or more, none less than 6.
//	python-rabbitmq: one of 2 workers is between note and payment, 250 ms of 255 to 300,
//	    when all are killed. Five times: (1/51)^10 to (1/6)^10, below 1e-7. Under the same
//	    load 6 to 9 of the 10 hit, in 24 runs: none does less than once in 10^4.
//
// On a machine that is so slow that a client loses its session or its channel, and ends for
// that, it is started again; one message at a time keeps python-rabbitmq far below the 6 s
// after which the brokers of the tests close a channel.
//
// A mended one passes if each of its faults struck with something in hand, which takes
// messages that are left: none strikes when four fifths are done, and the rest is more than
// a second of work.
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

// struck is what verify says of a fault that it makes: how many messages were in hand.
var struck = regexp.MustCompile(`(?m)^ *\S+  (?:kill|kill-all|freeze) consumer\S*: (?:(\d+) messages? (?:was|were) in hand|.*)$`)

// diagnosis tells how many faults struck with something in hand.
func diagnosis(said string) string {
	faults := struck.FindAllStringSubmatch(said, -1)
	hit := 0
	for _, f := range faults {
		if f[1] != "" {
			hit++
		}
	}
	return fmt.Sprintf("%d of %d faults struck with something in hand", hit, len(faults))
}

func TestDiagnosis(t *testing.T) {
	const said = " 3.2s  kill consumer/1: 9 messages were in hand\n  11s  kill-all consumer: 1 message was in hand\n" +
		"  12s  freeze consumer/0: 63 messages waited, nothing was in hand for certain\n  13s  kill consumer/0: nothing was in hand\n"
	if got, want := diagnosis(said), "2 of 4 faults struck with something in hand"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
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
				t.Errorf("naive: exit %d, want 1: %s\n%s", code, diagnosis(said), said)
			}
			if missing := documented[example.name].missingIn(said); missing != "" {
				t.Errorf("naive: %q is documented and was not said:\n%s", missing, said)
			}
			if code, said = verify(t, bin, example.name, "mended"); code != 0 {
				t.Errorf("mended: exit %d, want 0: %s\n%s", code, diagnosis(said), said)
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
