// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestAFlagThatWouldDoNothingIsRefused, in one line, before anything is started.
func TestAFlagThatWouldDoNothingIsRefused(t *testing.T) {
	run := "run steady --on inmem:kafka "
	verify := "verify --effects stdout "
	for _, c := range []struct{ args, want string }{
		{run + "--stop-on-violation", "--stop-on-violation ends a --repeat, and there is none"},
		{run + "--quiet --json", "--quiet prints nothing and --json the results"},
		{run + "--predict", "--on names no broker"},
		{run + "--predict-strict", "--on names no broker"},
		{run + "--predict-seeds 5", "--predict-seeds wants --predict"},
		{run + "--provider native", "--provider is of brokers, and --on names none"},
		{run + "--allow-remote", "--allow-remote is of brokers, and --on names none"},
		{run + "--address kafka=127.0.0.1:1", "--address is of brokers, and --on names none"},
		{"run steady --on sqs --image kafka=x", "--image names kafka, but only sqs is asked for"},
		{"run steady --on sqs,kafka --address rabbitmq=127.0.0.1:1", "--address names rabbitmq, but only sqs, kafka is asked for"},
		{"run steady --on kafka --provider native --address kafka=127.0.0.1:1", "--address is of the external provider, not of --provider native"},
		{"run steady --on kafka --provider native --image kafka=x", "--image is of the docker provider, not of --provider native"},
		{"up kafka --address sqs=http://127.0.0.1:1", "--address names sqs, but only kafka is asked for"},
		{"down kafka --image kafka=x", `unknown flag "image"`},
		{"check . --quick", "holds no run"},
		{"check . --quick --json", "--quick gives no results, so that --json has nothing to do"},
		{"check . --quick --predict", "--quick gives no results, so that --predict has nothing to do"},
		{"check . --predict-seeds 5", "--predict-seeds wants --predict"},
		{"verify --init kafka --workers 4", "--init writes a file with every option; --workers goes into it"},
		{verify + "--on sqs --freeze-for 1s -- true", "--freeze-for wants --freeze"},
		{verify + "--on sqs --lose-for 1s -- true", "--lose-for wants --lose-answers"},
		{verify + "--on sqs --partitions 3 -- true", "--partitions wants --on kafka"},
		{verify + "--on sqs --quiet --json -- true", "--quiet prints nothing and --json the results"},
		{verify + "--on sqs --address kafka=127.0.0.1:1 -- true", "--address names kafka, but only sqs is asked for"},
	} {
		args := strings.Fields(c.args)
		if args[0] == "run" {
			args = append(args, "--out", filepath.Join(t.TempDir(), "o"))
		}
		_, stderr, code := harness(args...)
		if code != exitUsage || !strings.Contains(stderr, c.want) || lines(stderr) != 1 {
			t.Errorf("harness %s: exit %d, %q; want 64 and %q in one line", c.args, code, stderr, c.want)
		}
	}
}

// TestPredictingWhatRanOnNoBrokerIsSaid: the verdict stands.
func TestPredictingWhatRanOnNoBrokerIsSaid(t *testing.T) {
	_, stderr, code := harness("check", "--predict", ran(t, "steady"))
	if code != exitPass || !strings.Contains(stderr, "none of these ran on a broker") || lines(stderr) != 1 {
		t.Errorf("exit %d, %q", code, stderr)
	}
}
