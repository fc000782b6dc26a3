// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWhatAnotherToolRecordedIsJudged imports the logs of a producer and a consumer, of
// which one record was passed over.
func TestWhatAnotherToolRecordedIsJudged(t *testing.T) {
	dir := t.TempDir()
	producer, consumer := filepath.Join(dir, "producer.log"), filepath.Join(dir, "consumer.log")
	logs := map[string]string{
		producer: `{"timestamp":1000,"name":"producer_send_success","value":"0","topic":"t","partition":0,"offset":0}
{"timestamp":1000,"name":"producer_send_success","value":"1","topic":"t","partition":0,"offset":1}
{"timestamp":1001,"name":"producer_send_success","value":"2","topic":"t","partition":0,"offset":2}
`,
		consumer: `{"timestamp":1002,"name":"partitions_assigned","partitions":[{"topic":"t","partition":0}]}
{"timestamp":1003,"name":"record_data","value":"0","topic":"t","partition":0,"offset":0}
{"timestamp":1003,"name":"record_data","value":"2","topic":"t","partition":0,"offset":2}
{"timestamp":1004,"name":"offsets_committed","offsets":[{"topic":"t","partition":0,"offset":3}],"success":true}
{"timestamp":1005,"name":"shutdown_complete"}
`,
	}
	for name, text := range logs {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := filepath.Join(dir, "run")
	if _, stderr, code := harness("history", "import", "--format", "kafka-verifiable", producer, consumer, run); code != exitPass {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	stdout, stderr, code := harness("check", run)
	if code != exitViolated || !strings.Contains(stdout, "lost") {
		t.Errorf("exit %d, want 1\n%s%s", code, stdout, stderr)
	}
	if head, _, _ := strings.Cut(stdout, "\n\n"); !strings.Contains(head, "kafka-verifiable") || !strings.Contains(head, "\nrun ") {
		t.Errorf("the table names neither the run nor what it was imported from:\n%s", stdout)
	}
	stdout, _, code = harness("check", "--quick", run)
	if got := strings.Fields(stdout); code != exitInconclusive || !strings.Contains(strings.Join(got, " "), "run 3 1 0") {
		t.Errorf("quick: exit %d, want 2\n%s", code, stdout)
	}
	stdout, _, code = harness("explain", run, "p0/1")
	if code != exitPass || !strings.Contains(stdout, "billing") && !strings.Contains(stdout, "lost") {
		t.Errorf("exit %d\n%s", code, stdout)
	}
}

func TestImportRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("nonsense\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := filepath.Join(t.TempDir(), "run")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"import", file}, "want one file or more"},
		{[]string{"import", "--format", "jepson", file, run}, `unknown format "jepson"; did you mean "jepsen"?`},
		{[]string{"import", "--format", "jepsen", file + "s", run}, "no such file"},
		{[]string{"import", "--format", "jepsen", file, run}, "want a map for each operation"},
		{[]string{"import", file, run}, "line 1"},
		{[]string{"import", file, file, run}, "jsonl wants one file"},
	} {
		_, stderr, code := harness(append([]string{"history"}, c.args...)...)
		if code != exitUsage || !strings.Contains(stderr, c.want) || strings.Count(strings.TrimSpace(stderr), "\n") != 0 {
			t.Errorf("%q: exit %d, %q; want 64 and %q", c.args, code, stderr, c.want)
		}
		if _, err := os.Stat(run); !os.IsNotExist(err) {
			t.Errorf("%q left a run", c.args)
		}
	}
}

// TestArchiveIsJudgedAlike archives a run and checks the archive.
func TestArchiveIsJudgedAlike(t *testing.T) {
	out, archive := filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "archive")
	if _, stderr, code := harness("run", "steady", "--on", "inmem:kafka", "--out", out); code != exitPass {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	runs, err := filepath.Glob(filepath.Join(out, "*", "manifest.json"))
	if err != nil || len(runs) == 0 {
		t.Fatalf("runs %q, %v", runs, err)
	}
	run := filepath.Dir(runs[0])
	if _, stderr, code := harness("history", "archive", run, archive); code != exitPass {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	want, _, wantCode := harness("check", run)
	got, stderr, code := harness("check", archive)
	if code != wantCode || strings.ReplaceAll(got, archive, run) != want {
		t.Errorf("exit %d, want %d\n%s%s\nwant\n%s", code, wantCode, got, stderr, want)
	}
	if _, stderr, code := harness("history", "archive", run, archive); code != exitUsage || !strings.Contains(stderr, "exists") {
		t.Errorf("a second time: exit %d, %q; want 64", code, stderr)
	}
}
