// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"modernc.org/sqlite"

	"github.com/seed-720a3c77/harness/consumertest"
)

// TestPayments drives the mended consumer through all that Kafka may do to it, without
// Kafka. PAYMENTS=naive go test ./examples/go-kafka shows what it finds in the naive one.
func TestPayments(t *testing.T) {
	handle := mended
	if os.Getenv("PAYMENTS") == "naive" {
		handle = naive
	}
	consumertest.Run(t, func(env consumertest.Env) consumertest.Handler {
		db := openIn(env)
		return func(ctx context.Context, m consumertest.Message) error {
			var o order
			if err := json.Unmarshal(m.Body, &o); err != nil {
				return err
			}
			return handle(ctx, db, o)
		}
	},
		consumertest.On(consumertest.Kafka),
		consumertest.Events(nthOrder),
		consumertest.Setup(func(env consumertest.Env) error {
			_, err := openIn(env).Exec(schema)
			return err
		}),
		consumertest.CountQuery("SELECT event_id, count(*) FROM payments GROUP BY event_id"))
}

// openIn opens the database of a scenario. It waits for no lock: a transaction that a
// schedule holds is held in virtual time, and the driver would wait in real time.
func openIn(env consumertest.Env) *sql.DB {
	return env.OpenDB(&sqlite.Driver{}, "file:"+env.Dir()+"/payments.db?_txlock=immediate")
}

func nthOrder(n int) consumertest.Event {
	o := order{EventID: fmt.Sprintf("order-%d", n+1), Customer: fmt.Sprintf("customer-%d", n%2+1), Amount: 10}
	body, _ := json.Marshal(o) // of strings and a number
	return consumertest.Event{ID: o.EventID, Key: o.Customer, Body: body}
}

const stories = "../../docs/stories.md"

var update = flag.Bool("update", false, "write the story in "+stories)

// TestNaiveIsCaught: the naive consumer fails with the story that the docs tell.
func TestNaiveIsCaught(t *testing.T) {
	page, err := os.ReadFile(stories)
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)<!-- go-kafka naive -->\n```text\n(.*?)```")
	at := block.FindSubmatchIndex(page)
	if at == nil {
		t.Fatalf("%s has no block for go-kafka naive", stories)
	}
	switch told := naiveStory(t); {
	case *update:
		page = slices.Concat(page[:at[2]], []byte(told), page[at[3]:])
		if err := os.WriteFile(stories, page, 0o644); err != nil {
			t.Fatal(err)
		}
	case told != string(page[at[2]:at[3]]):
		t.Errorf("%s tells another story (go test ./examples/go-kafka -update writes it):\n%s", stories, told)
	}
}

// margin is what go test puts before each line of a subtest's subtest.
const margin = "                "

var place = regexp.MustCompile(`payments_test\.go:\d+: `)

// naiveStory is what the naive consumer's test prints of its first finding, down to the
// line that plays it again.
func naiveStory(t *testing.T) string {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPayments$/^kafka$/^crashed$")
	cmd.Env = append(os.Environ(), "PAYMENTS=naive")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("the naive consumer passes:\n%s", out)
	}
	found := place.FindIndex(out)
	if found == nil {
		t.Fatalf("it fails without a finding:\n%s", out)
	}
	var story strings.Builder
	for line := range strings.Lines(string(out[found[1]:])) {
		line = strings.TrimRight(strings.TrimPrefix(line, margin), " \n")
		story.WriteString(line + "\n")
		if strings.Contains(line, "again:") {
			break
		}
	}
	return story.String()
}
