// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/checkers"
)

// harness runs the command in this process.
func harness(args ...string) (stdout, stderr string, code int) {
	var out, errs bytes.Buffer
	cmd := root()
	cmd.SetArgs(args)
	code = execute(cmd, &out, &errs)
	return out.String(), errs.String(), code
}

func TestBadInputIsOneLineAndExit64(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.yaml")
	worse := filepath.Join(dir, "worse.yaml")
	for file, text := range map[string]string{
		bad: "name: bad\nabout: x\ntopologie: {}\n",
		worse: "name: w\nabout: x\ntopology: {q: {}}\nproduce: [{to: q, count: 1, rate: 1/s}]\nconsume: [{from: q, group: g, settle: {when: after-batch}}]\n" +
			"timeline: [{at: 1s, do: shorten, operation: settle}]\nclaims: drained\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "stedy"}, `unknown workload "stedy"; did you mean "steady"?`},
		{[]string{"run", "steady", "--on", "kafak"}, `did you mean "kafka"?`},
		{[]string{"run", "steady", "--on", "inmem:rabitmq"}, `did you mean "inmem:rabbitmq"?`},
		{[]string{"run", "steady", "--seed", "x"}, `seed "x" is not a whole number`},
		{[]string{"run", "steady", "--repeat", "often"}, `repeat "often" is neither`},
		{[]string{"run", "steady", "--variant", "nope", "--out", filepath.Join(dir, "o")}, `no variant has the parts "nope"`},
		{[]string{"run", "steady", "--sede", "x"}, `unknown flag "sede"; did you mean "seed"?`},
		{[]string{"run", bad}, `bad.yaml:3: unknown key "topologie"; did you mean "topology"?`},
		{[]string{"run", worse, "--on", "inmem:sqs", "--out", filepath.Join(dir, "w")}, `w:6: shorten: shorten wants keep`},
		{[]string{"run", "steady", "--address", "kafak=127.0.0.1:1"}, `unknown broker "kafak"; did you mean "kafka"?`},
		{[]string{"run", "steady", "--provider", "dokcer"}, `unknown provider "dokcer"; did you mean "docker"?`},
		{[]string{"validate", "nope.yaml"}, `no such file`},
		{[]string{"check", dir}, `holds no run`},
		{[]string{"check"}, `want one directory`},
		{[]string{"report", dir}, `results:`},
		{[]string{"report", "--format", "htm", dir}, `unknown format "htm"; did you mean "html"?`},
		{[]string{"rnu"}, `unknown verb "rnu"; did you mean "run"?`},
		{[]string{"compare"}, `unknown verb "compare"; there are: check, down, explain, explore, `},
		{[]string{"run", "steady", "--on", "rabbitmq", "--address", "rabbitmq=amqp://guest:hunter2@127.0.0.1:1", "--out", filepath.Join(dir, "o")}, `set HARNESS_RABBITMQ_USER and HARNESS_RABBITMQ_PASSWORD instead`},
		{[]string{"up", "kafak"}, `did you mean "kafka"?`},
		{[]string{"explore", "steady", "--on", "kafka"}, `explore runs on the in-memory engine`},
		{[]string{"explore", "steady", "--jitter", "0s"}, `jitter is more than 0`},
		{[]string{"explore", "steady", "--jitter", "2562047h"}, `at most 10s`},
	} {
		_, stderr, code := harness(c.args...)
		if code != exitUsage || !strings.Contains(stderr, c.want) || strings.Count(strings.TrimSpace(stderr), "\n") != 0 {
			t.Errorf("harness %s: exit %d, %q; want 64 and %q in one line", strings.Join(c.args, " "), code, stderr, c.want)
		}
	}
}

// TestCommandTellsNoCredentials: an address with a password is refused before anything is
// written, and of variables only the names are kept.
func TestCommandTellsNoCredentials(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "o")
	_, stderr, code := harness("run", "steady", "--on", "rabbitmq", "--address", "rabbitmq=amqp://guest:hunter2@127.0.0.1:1", "--out", dir)
	if _, err := os.Stat(dir); code != exitUsage || err == nil || strings.Contains(stderr, "hunter2") {
		t.Errorf("exit %d, %q, output: %v; want 64, no password and no output", code, stderr, err)
	}
	for _, c := range []struct{ args, want string }{
		{"verify --env DB=hunter2 --env=KEY=a=b --on sqs -- ./me --env X=1", "harness verify --env DB=... --env=KEY=... --on sqs -- ./me --env X=1"},
		{"run steady --seed 3", "harness run steady --seed 3"},
		{"up --env kafka", "harness up --env kafka"},
	} {
		if got := command(strings.Fields(c.args)); got != c.want {
			t.Errorf("command %q\n got %q\nwant %q", c.args, got, c.want)
		}
	}
}

func TestRunWritesWhatCheckAndReportRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "suite")
	stdout, stderr, code := harness("run", "steady", "crash-mid-batch", "--on", "inmem", "--out", dir)
	if code != exitPass {
		t.Fatalf("exit %d\n%s%s", code, stdout, stderr)
	}
	for _, want := range []string{"crash-mid-batch", "inmem:kafka", "pass", filepath.Join(dir, "report.html")} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the table lacks %q:\n%s", want, stdout)
		}
	}
	var ran, checked checkers.Results
	read(t, filepath.Join(dir, "results.json"), &ran)
	again, _, code := harness("check", dir, "--json")
	if code != exitPass {
		t.Errorf("check: exit %d", code)
	}
	if err := json.Unmarshal([]byte(again), &checked); err != nil {
		t.Fatal(err)
	}
	verdicts := map[string]string{}
	for _, r := range ran.Runs {
		verdicts[r.Run] = asText(t, r)
	}
	for _, r := range checked.Runs {
		if verdicts[r.Run] != asText(t, r) {
			t.Errorf("check judges %s differently from the run", r.Run)
		}
	}
	for _, format := range []string{"text", "html", "md", "junit", "json"} {
		if out, stderr, code := harness("report", "--format", format, dir); code != exitPass || len(out) == 0 {
			t.Errorf("report %s: exit %d, %d bytes, %s", format, code, len(out), stderr)
		}
	}
}

func asText(t *testing.T, r checkers.Result) string {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func read(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

func TestResultsAreNeverWrittenOver(t *testing.T) {
	dir := t.TempDir() // exists
	_, stderr, code := harness("run", "steady", "--on", "inmem:kafka", "--out", dir)
	if code != exitFailed || !strings.Contains(stderr, "file exists") {
		t.Errorf("exit %d, %q", code, stderr)
	}
}

func TestUnwritableOutputIsFoundBeforeTheRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, stderr, code := harness("run", "steady", "--on", "inmem:kafka", "--out", filepath.Join(file, "suite"))
	if code != exitFailed || !strings.Contains(stderr, "output:") {
		t.Errorf("exit %d, %q", code, stderr)
	}
}

func TestBrokerThatIsDownIsNamed(t *testing.T) {
	for engine, address := range map[string]string{"kafka": "127.0.0.1:1", "sqs": "http://127.0.0.1:1", "rabbitmq": "127.0.0.1:1"} {
		dir := filepath.Join(t.TempDir(), "suite")
		_, stderr, code := harness("run", "steady", "--on", engine, "--provider", "external", "--address", engine+"="+address, "--out", dir)
		if code != exitFailed || !strings.Contains(stderr, "127.0.0.1:1") {
			t.Errorf("%s: exit %d, %q; want 3 and the address", engine, code, stderr)
		}
	}
}

func TestRemoteAddressNeedsLeave(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "suite")
	_, stderr, code := harness("run", "steady", "--on", "kafka", "--provider", "external", "--address", "kafka=192.0.2.1:9092", "--out", dir)
	if code != exitUsage || !strings.Contains(stderr, "--allow-remote") {
		t.Errorf("exit %d, %q; want 64 and --allow-remote", code, stderr)
	}
}

func TestViolationExitsOne(t *testing.T) {
	file := filepath.Join(t.TempDir(), "wrong.yaml")
	source := `name: wrong
about: Claims at most one effect, settles after the batch and crashes in it.
topology: {orders: {partitions: 1}}
produce: [{to: orders, count: 200, rate: 1000/s}]
consume: [{from: orders, group: billing, workers: 2, batch: 20, settle: {when: after-batch}, handler: {takes: 4ms}}]
timeline: [{at: {worker: billing, point: mid-batch, n: 10}, do: kill, target: billing}]
claims: at-most-once
`
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, _, code := harness("run", file, "--on", "inmem:kafka", "--out", filepath.Join(t.TempDir(), "suite"))
	if code != exitViolated || !strings.Contains(stdout, "violated") {
		t.Errorf("exit %d\n%s", code, stdout)
	}
}

func TestListAndValidate(t *testing.T) {
	stdout, _, code := harness("list")
	for _, want := range []string{"steady", "zombie", "rabbitmq-classic", "kill", "inmem:kafka-4.1-sarama"} {
		if code != exitPass || !strings.Contains(stdout, want) {
			t.Errorf("list: exit %d, lacks %q", code, want)
		}
	}
	stdout, _, code = harness("validate", "slow-handler")
	if code != exitPass || !strings.Contains(stdout, "slow-handler expires+plain on kafka-4.1-sarama: not applicable") {
		t.Errorf("validate: exit %d\n%s", code, stdout)
	}
	if stdout, _, code = harness("version"); code != exitPass || !strings.HasPrefix(stdout, "harness ") {
		t.Errorf("version: exit %d, %q", code, stdout)
	}
}
