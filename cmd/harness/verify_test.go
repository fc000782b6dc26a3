// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/effects/postgres"
	"github.com/seed-720a3c77/harness/internal/catalog"
	"github.com/seed-720a3c77/harness/internal/testenv"
	"github.com/seed-720a3c77/harness/runner/blackbox"
)

// verified runs the built command on a program and returns its exit code and what it said.
func verified(t *testing.T, bin, out string, args ...string) (code int, said string) {
	t.Helper()
	cmd := exec.Command(bin, append([]string{"verify", "--out", out}, args...)...)
	text, err := cmd.CombinedOutput()
	var exited *exec.ExitError
	if err != nil && !errors.As(err, &exited) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(text)
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestVerify: one consumer, three brokers: without a key, with one, and one that drops.
func TestVerify(t *testing.T) {
	bin := build(t)
	for _, engine := range []string{"sqs", "kafka", "rabbitmq"} {
		t.Run(engine, func(t *testing.T) {
			testenv.Need(t, engine)
			for mode, want := range map[string]struct {
				code    int
				verdict contract.Verdict
			}{
				"naive": {exitViolated, contract.Violated}, "mended": {exitPass, contract.Pass}, "drops": {exitViolated, contract.Violated},
			} {
				t.Run(mode, func(t *testing.T) {
					t.Parallel()
					out := filepath.Join(t.TempDir(), "verify")
					args := []string{"--on", engine, "--messages", "60", "--rate", "1000", "--kill", "1", "--duplicate", "5", "--session", "1s",
						"--patience", "30s", "--effects", "sqlite:{dir}/done.db", "--query", programQuery, "--env", programMode + "=" + mode}
					if engine == "sqs" {
						args = append(args, "--lease", "2s")
					}
					code, said := verified(t, bin, out, append(args, "--", self(t))...)
					if code != want.code {
						t.Fatalf("exit %d, want %d\n%s", code, want.code, said)
					}
					if strings.Contains(said, "the shortest story, of p0/") != (want.code == exitViolated) {
						t.Errorf("a story, or none:\n%s", said)
					}
					judgedAs(t, out, engine, mode, want.verdict)
				})
			}
		})
	}
}

func judgedAs(t *testing.T, out, engine, mode string, want contract.Verdict) {
	t.Helper()
	var results checkers.Results
	read(t, filepath.Join(out, "results.json"), &results)
	r := results.Runs[0]
	twice, lost := r.Counts["effect-duplicates"], r.Counts["lost"]
	switch {
	case r.Verdict != want || r.Engine != engine || !r.Trust.HistoryComplete:
		t.Errorf("verdict %s on %s: %s", r.Verdict, r.Engine, r.Sentence)
	case mode == "naive" && (r.Counts["effect-duplicates.producer-copy"] != 5 || lost != 0):
		t.Errorf("naive: %v", r.Counts)
	case mode == "mended" && (twice != 0 || lost != 0 || r.Counts["effects"] != 60):
		t.Errorf("mended: %v", r.Counts)
	case mode == "drops" && (twice != 0 || lost != 6 || r.Counts["lost-without-effect"] != 6):
		t.Errorf("drops: %v", r.Counts)
	}
	for _, file := range []string{"report.html", "junit.xml"} {
		if _, err := os.Stat(filepath.Join(out, file)); err != nil {
			t.Error(err)
		}
	}
	again, _, code := harness("check", out)
	if code != map[contract.Verdict]int{contract.Pass: exitPass, contract.Violated: exitViolated}[want] {
		t.Errorf("check: exit %d\n%s", code, again)
	}
}

// TestVerifyLosesAnswers: a settlement is applied and its answer does not arrive.
func TestVerifyLosesAnswers(t *testing.T) {
	bin := build(t)
	for _, engine := range []string{"sqs", "kafka", "rabbitmq"} {
		t.Run(engine, func(t *testing.T) {
			testenv.Need(t, engine)
			if engine == "kafka" {
				spareListeners(t, bin) // by a variable, so not in parallel
			} else {
				t.Parallel()
			}
			out := filepath.Join(t.TempDir(), "verify")
			args := []string{"--on", engine, "--messages", "60", "--rate", "1000", "--kill", "0", "--duplicate", "0", "--session", "1s", "--patience", "30s",
				"--lose-answers", "2", "--lose-for", "300ms", "--restarts", "10", "--effects", "sqlite:{dir}/done.db", "--query", programQuery,
				"--env", programMode + "=mended"}
			if engine == "sqs" {
				args = append(args, "--lease", "2s")
			}
			code, said := verified(t, bin, out, append(args, "--", self(t))...)
			if code != exitPass {
				t.Fatalf("exit %d\n%s", code, said)
			}
			lostAnswers(t, out, 2)
		})
	}
}

// lostAnswers fails unless so many times answers were lost for long enough.
func lostAnswers(t *testing.T, out string, want int) {
	t.Helper()
	var results checkers.Results
	read(t, filepath.Join(out, "results.json"), &results)
	for _, f := range results.Runs[0].Faults {
		if f.Name != "lose-answers" || f.ActiveNs < 0 || f.HealedNs < f.ActiveNs+int64(300*time.Millisecond) {
			t.Errorf("fault %+v", f)
		}
	}
	if got := len(results.Runs[0].Faults); got != want {
		t.Errorf("%d faults, want %d", got, want)
	}
}

// spareListeners goes on where a local Kafka runs: its spare listeners name proxies, and
// an address alone does not tell of them.
func spareListeners(t *testing.T, bin string) {
	t.Helper()
	t.Setenv("HARNESS_KAFKA", "")
	text, err := exec.Command(bin, "status", "--provider", "native").Output()
	if err != nil || !strings.Contains(string(text), "kafka ") {
		testenv.Lacks(t, "native", "no local Kafka runs, whose spare listeners name proxies")
	}
}

// noted is a script that notes its process before it goes on.
func noted(script string) []string {
	return []string{"--", "sh", "-c", `echo $$ >>"$HARNESS_DIR/pids"; ` + script}
}

// nothingLeft fails if a process that was noted still runs.
func nothingLeft(t *testing.T, out string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(out, "program", "pids"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(20 * time.Second); running(pid); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("process %d is left", pid)
			}
		}
	}
}

// running tells whether a process runs; a dead one that nobody reaped yet does not.
func running(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || !bytes.Contains(status, []byte(") Z "))
}

func TestVerifyNamesABadProgram(t *testing.T) {
	testenv.Need(t, "sqs")
	bin := build(t)
	sqlite := []string{"--effects", "sqlite:{dir}/x.db", "--query", "select id, count(*) from x group by 1"}
	for _, test := range []struct {
		name string
		args []string
		code int
		want []string
	}{
		{"exits at once", append([]string{"--effects", "stdout"}, noted("echo bang >&2; exit 3")...), exitFailed,
			[]string{"consumer/", "ended by itself", "with exit status 3", "bang"}},
		{"exits again and again", append([]string{"--effects", "stdout", "--restarts", "2"}, noted("exit 5")...), exitFailed,
			[]string{"with exit status 5; it said nothing; started again", "the program failed"}},
		{"exits at once with success", append([]string{"--effects", "stdout"}, noted("exit 0")...), exitFailed,
			[]string{"ended by itself", "with exit status 0", "it said nothing"}},
		{"never connects", append([]string{"--effects", "stdout"}, noted("echo connecting to nowhere; sleep 1000")...), exitInconclusive,
			[]string{"took no message and had no effect within 2s", "connecting to nowhere"}},
		{"ignores a polite end", append([]string{"--effects", "stdout"}, noted(`trap "" TERM; while :; do sleep 0.1; done`)...), exitInconclusive,
			[]string{"did not leave within 1s"}},
		{"writes garbage", append([]string{"--effects", "stdout"}, noted(`echo '{"id":'; sleep 1000`)...), exitFailed,
			[]string{"not an effect of this run", `{\"id\":`}},
		{"writes foreign ids", append([]string{"--effects", "stdout"}, noted(`echo '{"id":"17"}'; sleep 1000`)...), exitFailed,
			[]string{"not an effect of this run", `"17"`, "at "}},
		{"has no store", append(slices.Clone(sqlite), noted("sleep 1000")...), exitFailed,
			[]string{"the effects cannot be read", "query"}},
		{"asks an address where nobody is", append([]string{"--effects", "poll:http://127.0.0.1:1"}, noted("sleep 1000")...), exitFailed,
			[]string{"the effects cannot be read"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(t.TempDir(), "verify")
			args := append([]string{"--on", "sqs", "--messages", "5", "--duplicate", "0", "--ready", "2s", "--grace", "1s"}, test.args...)
			code, said := verified(t, bin, out, args...)
			if code != test.code {
				t.Errorf("exit %d, want %d\n%s", code, test.code, said)
			}
			for _, want := range test.want {
				if !strings.Contains(said, want) {
					t.Errorf("it does not say %q:\n%s", want, said)
				}
			}
			if strings.Contains(said, "pass") && !strings.Contains(said, "passed") {
				t.Errorf("it speaks of a pass:\n%s", said)
			}
			nothingLeft(t, out)
		})
	}
}

// TestVerifyInterrupted: it drains and reports.
func TestVerifyInterrupted(t *testing.T) {
	testenv.Need(t, "sqs")
	out := filepath.Join(t.TempDir(), "verify")
	code := signalled(t, os.Interrupt, out, "--effects", "sqlite:{dir}/done.db", "--query", programQuery)
	nothingLeft(t, out)
	var results checkers.Results
	read(t, filepath.Join(out, "results.json"), &results)
	if code != exitInterrupted || results.Runs[0].Verdict != contract.Inconclusive || results.Runs[0].Counts["lost"] != 0 {
		t.Errorf("exit %d, verdict %s: %s", code, results.Runs[0].Verdict, results.Runs[0].Sentence)
	}
}

// TestVerifyKilled: the watchdog ends workers and database, and removes what is left of
// them: the queue and the folder of the database.
func TestVerifyKilled(t *testing.T) {
	testenv.Need(t, "sqs")
	server, err := postgres.Start(t.Context(), nil)
	if errors.Is(err, postgres.ErrUnavailable) {
		testenv.Lacks(t, "postgres", err.Error())
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	t.Setenv("HARNESS_POSTGRES", "")
	before := databases(t)
	out := filepath.Join(t.TempDir(), "verify")
	signalled(t, os.Kill, out, "--effects", "postgres", "--query", "select 'none', 0 where false")
	nothingLeft(t, out)
	soon(t, "the folder of the database is left", func() bool {
		return !slices.ContainsFunc(databases(t), func(dir string) bool { return !slices.Contains(before, dir) })
	})
	queue, err := os.ReadFile(filepath.Join(out, "program", "queue"))
	if err != nil {
		t.Fatal(err)
	}
	sqs := connected(t, "sqs")
	soon(t, "the queue is left", func() bool {
		_, err := sqs.Depth(t.Context(), strings.TrimSpace(string(queue)), "")
		return err != nil
	})
}

// databases lists the folders of databases that run, wherever they may be.
func databases(t *testing.T) (all []string) {
	t.Helper()
	for _, parent := range []string{os.TempDir(), "/tmp", "/var/tmp"} {
		found, err := filepath.Glob(filepath.Join(parent, "harness-postgres-*"))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	return all
}

// signalled sends a signal to a verification under load and returns its exit code.
func signalled(t *testing.T, signal os.Signal, out string, args ...string) int {
	t.Helper()
	program := noted(`echo "$HARNESS_QUEUE" >"$HARNESS_DIR/queue"; exec "` + self(t) + `"`)
	args = append([]string{"verify", "--out", out, "--on", "sqs", "--messages", "3000", "--kill", "2", "--env", programMode + "=mended"}, args...)
	cmd := exec.Command(build(t), append(args, program...)...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	signalAt(t, stderr, "load", func() { _ = cmd.Process.Signal(signal) })
	_ = cmd.Wait() // its code tells
	return cmd.ProcessState.ExitCode()
}

// soon waits for what another process does.
func soon(t *testing.T, otherwise string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(otherwise)
		}
	}
}

func connected(t *testing.T, engine string) broker.Engine {
	t.Helper()
	found, err := catalog.Find(engine)
	if err != nil {
		t.Fatal(err)
	}
	brokers, err := catalog.NewBrokers(catalog.Providing{Only: "external"})
	if err != nil {
		t.Fatal(err)
	}
	connection, err := brokers.Connect(t.Context(), found[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = connection.Engine.Close(context.Background()) })
	return connection.Engine
}

// signalAt does something once a line of the output has a word, and reads the rest.
func signalAt(t *testing.T, from io.Reader, word string, do func()) {
	t.Helper()
	done, said := false, ""
	for lines := bufio.NewScanner(from); lines.Scan(); {
		said += lines.Text() + "\n"
		if !done && strings.Contains(lines.Text(), word) {
			done = true
			do()
		}
	}
	if !done {
		t.Fatalf("it never said %q:\n%s", word, said)
	}
}

func TestPatterns(t *testing.T) {
	for _, test := range []struct {
		counts map[string]int64
		want   []string
	}{
		{map[string]int64{}, nil},
		{map[string]int64{"effect-duplicates": 5, "effect-duplicates.producer-copy": 5}, []string{"no key, or the broker's id as the key"}},
		{map[string]int64{"effect-duplicates": 9, "effect-duplicates.producer-copy": 5, "effect-duplicates.a-worker-died-in-between": 4}, []string{"no key, or the broker's id as the key"}},
		{map[string]int64{"effect-duplicates": 1, "effect-duplicates.producer-copy": 1}, []string{"check-then-act"}},
		{map[string]int64{"effect-duplicates": 8, "effect-duplicates.producer-copy": 3, "effect-duplicates.a-worker-died-in-between": 5}, []string{"check-then-act"}},
		{map[string]int64{"effect-duplicates": 6, "effect-duplicates.producer-copy": 1, "effect-duplicates.a-worker-died-in-between": 5}, []string{"work before note"}},
		{map[string]int64{"effect-duplicates": 2, "effect-duplicates.a-worker-died-in-between": 2}, []string{"work before note"}},
		{map[string]int64{"effect-duplicates": 2, "effect-duplicates.deliveries-not-seen": 2}, []string{"check-then-act, or a lease that ran out"}},
		{map[string]int64{"lost": 3, "lost-without-effect": 3}, []string{"settle before work, or claim before work"}},
		{map[string]int64{"effect-duplicates": 1, "effect-duplicates.a-worker-died-in-between": 1, "lost-without-effect": 1}, []string{"work before note", "settle before work, or claim before work"}},
	} {
		var got []string
		for _, p := range patterns(&checkers.Result{Counts: test.counts}, 5) {
			got = append(got, p.name)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%v: %q, want %q", test.counts, got, test.want)
		}
	}
}

func TestVerifyRefusesBadWords(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "verify.yaml")
	if err := os.WriteFile(file, []byte("on: sqs\nworkes: 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"verify", "--on", "sqs", "--effects", "hook"}, "no command"},
		{[]string{"verify", "--on", "sqs", "--effects", "hook", "true"}, `"true": the command comes after --`},
		{[]string{"verify", "--on", "sqs", "--", "true"}, "effects: say where they are"},
		{[]string{"verify", "--on", "kafak", "--effects", "hook", "--", "true"}, `did you mean "kafka"?`},
		{[]string{"verify", "--on", "inmem:kafka", "--effects", "hook", "--", "true"}, "lives in the harness"},
		{[]string{"verify", "--on", "kafka", "--lease", "3s", "--effects", "hook", "--", "true"}, "lease"},
		{[]string{"verify", "--on", "sqs", "--effects", "hook", "--", "./no-such-program"}, "no-such-program"},
		{[]string{"verify", "--file", file, "--", "true"}, `verify.yaml: line 2: unknown key "workes"; did you mean "workers"?`},
		{[]string{"verify", "--file", filepath.Join(dir, "none.yaml")}, "no such file"},
		{[]string{"verify", "--init", "kafak"}, `did you mean "kafka"?`},
		{[]string{"verify", "--init", "kafka", "true"}, "--init writes a file"},
		{[]string{"verify", "--init", "kafka", "--file", file}, "file exists"},
	} {
		_, stderr, code := harness(test.args...)
		if code != exitUsage || !strings.Contains(stderr, test.want) || strings.Count(strings.TrimSpace(stderr), "\n") != 0 {
			t.Errorf("harness %s: exit %d, %q; want 64 and %q in one line", strings.Join(test.args, " "), code, stderr, test.want)
		}
	}
}

func TestFlagsGoBeforeTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "verify.yaml")
	if _, stderr, code := harness("verify", "--init", "sqs", "--file", file); code != exitPass {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	f := verifyFlags{options: blackbox.Defaults()}
	cmd := &cobra.Command{RunE: func(*cobra.Command, []string) error { return nil }}
	f.bind(cmd.Flags())
	cmd.SetArgs([]string{"--file", file, "--kill", "7", "--env", "A=1", "--env", "B=2", "--lease", "9s", "--", "mine", "--kill", "8"})
	var got blackbox.Options
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		got, err = f.decide(cmd, args)
		return err
	}
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	if got.On != "sqs" || got.Kill != 7 || got.Lease != 9*time.Second || got.Duplicate != blackbox.Defaults().Duplicate {
		t.Errorf("options %+v", got)
	}
	if !slices.Equal(got.Env, []string{"A=1", "B=2"}) || !slices.Equal(got.Command, []string{"mine", "--kill", "8"}) {
		t.Errorf("env %q, command %q", got.Env, got.Command)
	}
}
