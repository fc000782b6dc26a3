// SPDX-License-Identifier: Apache-2.0

package runner_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-720a3c77/harness/contract/profiles"
	"github.com/seed-720a3c77/harness/faults"
	"github.com/seed-720a3c77/harness/internal/catalog"
	"github.com/seed-720a3c77/harness/runner"
	"github.com/seed-720a3c77/harness/workloads"
)

// TestFaultsAreRefusedAtValidation: before anything starts, with the reason; a wrong word is
// another matter than what a profile cannot do.
func TestFaultsAreRefusedAtValidation(t *testing.T) {
	virtual := runner.Where{Virtual: true, Rig: &faults.Rig{Links: 1}}
	external := runner.Where{Rig: &faults.Rig{NoNodes: "the broker is external", NoLinks: "no spare listener"}}
	native := runner.Where{Rig: &faults.Rig{Nodes: []string{"n"}, Links: 4}}
	for _, c := range []struct {
		step, profile string
		where         runner.Where
		inapplicable  bool
		want          string
	}{
		{"at: 1s, do: broker-kill", "kafka", virtual, true, "the in-memory engine is no process"},
		{"at: 1s, do: broker-kill", "kafka", external, true, "the broker is external"},
		{"at: 1s, do: broker-restart", "localstack", native, true, "LocalStack keeps everything in memory"},
		{"at: 1s, do: broker-pause, target: broker/2", "kafka", native, true, "there is no node 2, the broker has 1"},
		{"at: 1s, do: broker-pause, target: brokr", "kafka", native, false, `unknown node "brokr"`},
		{"at: 1s, do: link-cut, target: all", "kafka", external, true, "no spare listener"},
		{"at: 1s, do: link-cut, target: biling", "kafka", native, false, `did you mean "billing"?`},
		{"at: 1s, do: link-bandwidth, target: all, bytes-per-second: 10", "kafka", virtual, true, "moves messages, not bytes"},
		{"at: 1s, do: link-hold, target: all", "kafka", virtual, false, "wants an end"},
		{"at: 1s, do: link-hold, target: all, way: sideways, for: 1s", "kafka", virtual, false, `unknown way "sideways"`},
		{"at: 1s, do: hold, operation: publish", "kafka", virtual, false, "wants an end"},
		{"at: 1s, do: drop, operation: ack", "kafka", virtual, true, "has no ack"},
		{"at: 1s, do: drop, operation: extend", "rabbitmq", virtual, true, "has no extend"},
		{"at: 1s, do: drop, operation: commit", "sqs", virtual, true, "has no commit"},
		{"at: 1s, do: drop, operation: publsh", "kafka", virtual, false, `did you mean "publish"?`},
		{"at: 1s, do: drop, operation: publish, by: p7", "kafka", virtual, false, `unknown client "p7"`},
		{"at: 1s, do: drop, operation: publish, to: order", "kafka", virtual, false, `did you mean "orders"?`},
		{"at: 1s, do: drop, operation: publish, harder: 1", "kafka", virtual, false, `unknown key "harder"`},
		{"at: 1s, do: drop, operation: publish, target: p0", "kafka", virtual, false, "takes no target"},
		{"at: 1s, do: drop, operation: receive, id: p0/1", "kafka", virtual, false, "has no id or key"},
		{"at: 1s, do: drop, operation: settle, key: k1", "kafka", virtual, false, "knows no key"},
		{"at: 1s, do: drop, operation: settle, entries: [0]", "sqs", virtual, false, "counted from 1"},
		{"at: 1s, do: drop, operation: publish, entries: [2]", "sqs", virtual, false, "a publish is no batch"},
		{"at: 1s, do: shorten, operation: receive", "kafka", virtual, false, "wants keep"},
		{"at: 1s, do: alarm, for: 1s", "kafka", native, true, "only RabbitMQ blocks its publishers"},
		{"at: 1s, do: alarm, for: 1s", "rabbitmq", external, true, "the broker is external"},
		{"at: 1s, do: alarm, for: 1s, resource: disc", "rabbitmq", native, false, `did you mean "disk"?`},
		{"at: 1s, do: leader-move, target: orders", "kafka", native, true, "the broker is one node"},
		{"at: 1s, do: leader-move, target: orders", "kafka", virtual, true, "no other node to lead"},
		{"at: 1s, do: alarm", "rabbitmq", native, false, "wants an end"},
		{"at: 1s, do: fail, operation: publish, class: ok", "kafka", virtual, false, "unknown class of a failure"},
		{"at: 1s, do: delay, operation: publish, late: 5", "kafka", virtual, false, `"5" is not a duration`},
		{"at: 1s, do: drop, operation: publish, count: 2.5", "kafka", virtual, false, `wants a whole number in digits, got "2.5"`},
		{"at: 1s, do: drop, operation: settle, entries: []", "sqs", virtual, false, "an empty list selects none"},
		{"at: 1s, do: delay, operation: publish", "kafka", virtual, false, "wants late"},
		{"at: 1s, do: again, id: p0/1", "kafka", virtual, true, "only a lease queue may"},
		{"at: 1s, do: again, id: p0/1", "rabbitmq", virtual, true, "only a lease queue may"},
		{"at: 1s, do: purge, target: orders-x", "sqs", virtual, false, `did you mean "orders"?`},
		{"at: 1s, do: heal, fault: kill", "sqs", virtual, false, `unknown fault "kill"`},
		{"at: {fault: kill}, do: purge, target: orders", "sqs", virtual, false, `unknown fault "kill"`},
		{"at: {operation: ack, n: 3}, do: kill, target: billing/0", "kafka", virtual, true, "has no ack"},
	} {
		doc, err := workloads.Parse("small.yaml", []byte(strings.Replace(small, "MORE", "size: 100", 1)+"  - {"+c.step+"}"))
		if err != nil {
			t.Fatalf("%s: %v", c.step, err)
		}
		spec, _ := doc.Spec("")
		p, err := profiles.Named(c.profile)
		if err != nil {
			t.Fatal(err)
		}
		c.where.Faults = catalog.Faults()
		_, err = runner.NewPlan(spec, p, c.where)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s on %s: %v, want %q", c.step, c.profile, err, c.want)
			continue
		}
		if got := errors.As(err, new(*runner.NotApplicable)); got != c.inapplicable {
			t.Errorf("%s on %s: not applicable %t, want %t: %v", c.step, c.profile, got, c.inapplicable, err)
		}
	}
}
