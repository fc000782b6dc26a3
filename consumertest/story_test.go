// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares text with testdata/NAME.txt.
func golden(t *testing.T, name, text string) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (go test ./consumertest -update writes it)", err)
	}
	if text != string(want) {
		t.Errorf("%s:\n%s\nwant\n%s", file, text, want)
	}
}

// TestStories: what a failed test prints, word for word.
func TestStories(t *testing.T) {
	tests := []struct {
		name   string
		on     Profile
		config *config
	}{
		{"no-deduplication", RabbitMQClassic, single(plain)},
		{"check-then-act", SQSStandard, single(lookFirst)},
		{"check-then-act-fifo", SQSFIFO, single(lookFirst)},
		{"claim-before-work", Kafka, single(claimFirst)},
		{"work-before-claim", Kafka, single(noteAfter)},
		{"work-before-claim-sql", RabbitMQQuorum, single(sqlLookFirst, Setup(createTables), CountQuery(countPayments))},
		{"work-before-claim-http", RabbitMQQuorum, single(chargesFirst)},
		{"key-expires", Kafka, single(onceBy(byID, 24*time.Hour))},
		{"broker-id", Kafka, single(onceBy(byBrokerID, 0))},
		{"redelivered-flag", RabbitMQClassic, single(byFlag)},
		{"process-memory", SQSStandard, single(inMemory)},
		{"error-swallowed", RabbitMQQuorum, batched(forgetsOne)},
		{"settled-before-work", Kafka, single(goesOn)},
		{"claim-too-short", SQSStandard, single(shortClaim)},
		{"claimed-is-done", SQSStandard, single(busyIsDone)},
		{"high-water-mark", SQSStandard, single(highestOnly)},
		{"blind-retry", Kafka, single(retriesBlindly)},
		{"stale-write", SQSStandard, single(lastWins)},
		{"hangs", RabbitMQQuorum, single(hangs)},
		{"slower-than-lease", SQSStandard, single(slowlyLooked)},
		{"settles-too-late", SQSFIFO, single(slowly)},
		{"lost-update", SQSStandard, single(addsUpOnce)},
		{"wrong-entry", RabbitMQQuorum, batched(abandonsBatch)},
		{"poisoned-batch", RabbitMQQuorum, batched(wholeBatch)},
		{"redelivered-is-done", SQSFIFO, single(skipsRedelivered)},
		{"claim-never-ends", Kafka, single(lockedForEver)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			found, _ := hunt(t, test.config, test.on, 200)
			if found == nil {
				t.Fatal("nothing was found")
			}
			golden(t, test.name, found.story("TestOrders/"+string(test.on)+"/"+found.family))
		})
	}
}

// TestCommand: the line that plays a story again can be pasted into a shell, whatever the
// test is called.
func TestCommand(t *testing.T) {
	f := finding{seed: 7}
	want := `go test -run '^TestOrders$/^orders_\(it.s_v2\)$/^kafka$' -consumertest.seed=7`
	if got := f.command("TestOrders/orders_(it's_v2)/kafka"); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
