// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/IBM/sarama"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/internal/testenv"
	"github.com/seed-720a3c77/harness/provision"
	"github.com/seed-720a3c77/harness/provision/native"
)

// shape is what both runs do: one producer without retries, one consumer that commits after
// each poll, and a broker that is killed in between.
const (
	toolMessages = 1200
	toolRate     = 200
	toolPoll     = 50
	toolOutage   = 2 * time.Second
)

const sameShape = `
name: same-shape
about: The broker is killed under one producer and one consumer.
topology: {orders: {partitions: 2}}
produce: [{to: orders, count: %d, rate: %d/s, acks: all, retries: 0, in-flight: 16, on-error: give-up}]
consume: [{from: orders, group: billing, workers: 1, batch: %d, settle: {when: after-batch}, handler: {takes: 0s}}]
timeline: [{at: 2s, do: broker-kill, for: %s}]
claims: at-least-once
`

// TestKafkasOwnToolsAgree runs Kafka's VerifiableProducer and VerifiableConsumer under a
// broker that is killed, imports what they print, and wants what a run of our own of the
// same shape gives: the same verdict, nothing unexplained, and no more redelivered than each
// run had uncommitted.
func TestKafkasOwnToolsAgree(t *testing.T) {
	testenv.Short(t, "a broker that is killed twice, and two programs of Java")
	k := startKafka(t)
	theirs := k.runTools(t)
	ours := k.runOurs(t)
	for _, claim := range ours.Claims {
		if got := verdictOfClaim(theirs, claim.Name); got != claim.Verdict {
			t.Errorf("%s: ours %s, theirs %s", claim.Name, claim.Verdict, got)
		}
	}
	for name, r := range map[string]checkers.Result{"theirs": theirs, "ours": ours} {
		if r.Verdict != contract.Pass {
			t.Errorf("%s: %s: %s", name, r.Verdict, r.Sentence)
		}
		t.Logf("%s: acked %d, unknown %d, recovered %d, redelivered %d, unexplained %d, lost %d", name, r.Counts["acked"], r.Counts["unknown"],
			r.Counts["recovered"], r.Counts["redelivered"], r.Counts["unexplained"], r.Counts["lost"])
		if n := r.Counts["unexplained"] + r.Counts["lost"]; n != 0 {
			t.Errorf("%s: %d lost or unexplained", name, n)
		}
		if n := r.Counts["redelivered"]; n > toolPoll {
			t.Errorf("%s: %d redelivered, and no more than a poll of %d was uncommitted", name, n, toolPoll)
		}
	}
}

func verdictOfClaim(r checkers.Result, name string) contract.Verdict {
	for i := range r.Claims {
		if r.Claims[i].Name == name {
			return r.Claims[i].Verdict
		}
	}
	return contract.Unjudged
}

// toolKafka is a broker of the test's own.
type toolKafka struct {
	cache, libs string
	endpoint    provision.Endpoint
}

func startKafka(t *testing.T) *toolKafka {
	k := &toolKafka{cache: t.TempDir()}
	install := filepath.Join(os.Getenv("HARNESS_CACHE"), "install")
	k.libs = filepath.Join(install, "kafka", "libs")
	if _, err := os.Stat(k.libs); err != nil {
		testenv.Lacks(t, "native", "Kafka is not installed in HARNESS_CACHE as a local process")
	}
	if err := os.Symlink(install, filepath.Join(k.cache, "install")); err != nil {
		t.Fatal(err)
	}
	p := &native.Provider{Cache: k.cache}
	t.Cleanup(func() {
		if err := p.Down(context.Background(), provision.Kafka); err != nil {
			t.Error(err)
		}
	})
	var err error
	if k.endpoint, err = p.Up(t.Context(), provision.Kafka); err != nil {
		t.Fatal(err)
	}
	return k
}

func (k *toolKafka) runTools(t *testing.T) checkers.Result {
	dir := t.TempDir()
	k.createTopic(t, "tools", 2)
	properties := filepath.Join(dir, "consumer.properties")
	writeFile(t, properties, fmt.Sprintf("max.poll.records=%d\n", toolPoll))
	consumer := k.tool(t, "VerifiableConsumer", filepath.Join(dir, "consumer.log"), "--topic", "tools", "--group-id", "tools",
		"--verbose", "--reset-policy", "earliest", "--consumer.config", properties)
	waitFor(t, "the consumer has its partitions", func() bool { return consumer.count(t, "partitions_assigned") > 0 })
	producer := k.tool(t, "VerifiableProducer", filepath.Join(dir, "producer.log"), "--topic", "tools", "--value-prefix", "7",
		"--max-messages", fmt.Sprint(toolMessages), "--throughput", fmt.Sprint(toolRate))
	waitFor(t, "the consumer has read a quarter", func() bool { return consumer.count(t, "record_data") > toolMessages/4 })
	faults := k.killBroker(t)
	if err := producer.Wait(); err != nil {
		t.Fatalf("the producer: %v", err)
	}
	last := producer.acked(t)
	waitFor(t, "the consumer has read all that was acked", func() bool { return consumer.reached(t, last) })
	consumer.end(t)
	path := filepath.Join(dir, "faults.log")
	writeFile(t, path, faults)
	return k.imported(t, filepath.Join(dir, "run"), producer.log, consumer.log, path)
}

func (k *toolKafka) imported(t *testing.T, run string, files ...string) checkers.Result {
	args := append(append([]string{"history", "import", "--format", "kafka-verifiable"}, files...), run)
	if _, stderr, code := harness(args...); code != 0 {
		t.Fatalf("import: exit %d: %s", code, stderr)
	}
	opened, err := openRun(run)
	if err != nil {
		t.Fatal(err)
	}
	result, err := checkers.Check(opened)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func (k *toolKafka) runOurs(t *testing.T) checkers.Result {
	dir := t.TempDir()
	file, out := filepath.Join(dir, "same-shape.yaml"), filepath.Join(dir, "out")
	writeFile(t, file, fmt.Sprintf(sameShape, toolMessages, toolRate, toolPoll, toolOutage))
	cmd := exec.Command(build(t), "run", file, "--on", "kafka", "--provider", "native", "--out", out)
	cmd.Env = append(os.Environ(), "HARNESS_CACHE="+k.cache)
	said, ran := cmd.CombinedOutput()
	text, err := os.ReadFile(filepath.Join(out, "results.json"))
	if err != nil {
		t.Fatalf("%v: %v\n%s", ran, err, said)
	}
	var results checkers.Results
	if err := json.Unmarshal(text, &results); err != nil || len(results.Runs) != 1 {
		t.Fatalf("%v: %d runs\n%s", err, len(results.Runs), said)
	}
	return results.Runs[0]
}

func (k *toolKafka) createTopic(t *testing.T, name string, partitions int32) {
	config := sarama.NewConfig()
	config.Version = sarama.V4_1_0_0
	admin, err := sarama.NewClusterAdmin(strings.Split(k.endpoint.Address, ","), config)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	if err := admin.CreateTopic(name, &sarama.TopicDetail{NumPartitions: partitions, ReplicationFactor: 1}, false); err != nil {
		t.Fatal(err)
	}
}

// killBroker kills it, brings it back after a while, and returns what it did as lines that
// an import reads.
func (k *toolKafka) killBroker(t *testing.T) string {
	node := k.endpoint.Nodes[0]
	said := func(name string) string {
		return fmt.Sprintf("{\"timestamp\":%d,\"name\":%q,\"fault\":\"broker-kill\"}\n", time.Now().UnixMilli(), name)
	}
	if err := node.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	active := said("fault_active")
	time.Sleep(toolOutage)
	if err := node.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	return active + said("fault_healed")
}

// tool is one of Kafka's programs.
type tool struct {
	*exec.Cmd
	log string
}

func (k *toolKafka) tool(t *testing.T, class, log string, args ...string) *tool {
	f, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	java := append([]string{"-Xmx128m", "-XX:+UseSerialGC", "-cp", filepath.Join(k.libs, "*"), "org.apache.kafka.tools." + class,
		"--bootstrap-server", k.endpoint.Address}, args...)
	one := &tool{exec.Command("java", java...), log}
	one.Stdout = f
	if err := one.Start(); err != nil {
		testenv.Lacks(t, "native", err.Error())
	}
	t.Cleanup(func() { one.Process.Kill(); one.Wait() })
	return one
}

// end asks it to stop, and waits until it has said so.
func (o *tool) end(t *testing.T) {
	if err := o.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	o.Wait()
}

// toolLine is what the test looks at of a line.
type toolLine struct {
	Name      string `json:"name"`
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
}

func (o *tool) each(t *testing.T, do func(toolLine)) {
	f, err := os.Open(o.log)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var l toolLine
		if json.Unmarshal(lines.Bytes(), &l) == nil {
			do(l)
		}
	}
}

func (o *tool) count(t *testing.T, name string) (n int) {
	o.each(t, func(l toolLine) {
		if l.Name == name {
			n++
		}
	})
	return n
}

// acked are the highest offsets that a producer was told, by partition.
func (o *tool) acked(t *testing.T) map[int32]int64 { return o.highest(t, "producer_send_success") }

// reached tells whether a consumer has read up to such offsets.
func (o *tool) reached(t *testing.T, acked map[int32]int64) bool {
	read := o.highest(t, "record_data")
	for partition, offset := range acked {
		if at, any := read[partition]; !any || at < offset {
			return false
		}
	}
	return true
}

func (o *tool) highest(t *testing.T, name string) map[int32]int64 {
	at := map[int32]int64{}
	o.each(t, func(l toolLine) {
		if l.Name == name {
			at[l.Partition] = max(at[l.Partition], l.Offset)
		}
	})
	return at
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// waitFor is patient: the machine may be busy with other brokers.
func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); !done(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}
