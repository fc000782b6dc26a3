// SPDX-License-Identifier: Apache-2.0

package blackbox

import (
	"slices"
	"strings"
	"testing"
)

func around(t *testing.T, a Access, change func(*Options)) *surroundings {
	t.Helper()
	return &surroundings{plan: planOf(t, "sqs", change), access: func(int) Access { return a }, dir: "/out/program", hook: "http://127.0.0.1:9/effect"}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("HARNESS_KAFKA_PASSWORD", "of-the-harness")
	t.Setenv("PASSED_ON", "yes")
	for _, test := range []struct {
		access Access
		want   []string
	}{
		{Access{Product: "kafka", Address: "127.0.0.1:9092", Queue: "t"},
			[]string{"HARNESS_TOPIC=t", "KAFKA_BOOTSTRAP_SERVERS=127.0.0.1:9092", "KAFKA_GROUP_ID=h-00000abc-consumer"}},
		{Access{Product: "sqs", Address: "http://127.0.0.1:4566", Queue: "q", QueueURL: "http://127.0.0.1:4566/0/q", User: "test", Password: "test", Region: "us-east-1"},
			[]string{"HARNESS_QUEUE=q", "HARNESS_QUEUE_URL=http://127.0.0.1:4566/0/q", "AWS_ENDPOINT_URL=http://127.0.0.1:4566", "AWS_SECRET_ACCESS_KEY=test", "AWS_REGION=us-east-1"}},
		{Access{Product: "rabbitmq", Address: "127.0.0.1:5672", Queue: "q", User: "guest", Password: "a/b"},
			[]string{"HARNESS_QUEUE=q", "AMQP_URL=amqp://guest:a%2Fb@127.0.0.1:5672/", "RABBITMQ_PORT=5672"}},
	} {
		s := around(t, test.access, func(o *Options) { o.Env = []string{"MINE={queue}-{worker}"} })
		got := s.environment(1)
		want := append(test.want, "HARNESS_RUN=00000abc", "HARNESS_WORKER=1", "HARNESS_DIR=/out/program", "PASSED_ON=yes",
			"HARNESS_EFFECT_URL=http://127.0.0.1:9/effect/1", "MINE="+test.access.Queue+"-1")
		for _, pair := range want {
			if !slices.Contains(got, pair) {
				t.Errorf("%s: no %s in %q", test.access.Product, pair, got)
			}
		}
		for _, pair := range got {
			if strings.Contains(pair, "of-the-harness") || strings.HasPrefix(pair, "HARNESS_POSTGRES") {
				t.Errorf("%s: the harness's own %s is passed on", test.access.Product, pair)
			}
		}
	}
}

func TestPlaceholders(t *testing.T) {
	s := around(t, Access{Product: "sqs", Address: "http://a", Queue: "q", QueueURL: "http://a/q", Password: "secret"}, func(o *Options) {
		o.Command = []string{"./consumer", "--queue={queue}", "{queue-url}", "{address}", "{dir}/x.db", "{worker}", "{group}", "{run}", "{password}"}
	})
	want := []string{"./consumer", "--queue=q", "http://a/q", "http://a", "/out/program/x.db", "1", "h-00000abc-consumer", "00000abc", "{password}"}
	if got := s.arguments(1); !slices.Equal(got, want) {
		t.Errorf("arguments %q\nwant      %q", got, want)
	}
}

func TestHide(t *testing.T) {
	s := around(t, Access{Product: "rabbitmq", Password: "rabbit-hole", Postgres: "postgres://bob:hunter2-hunter2@h/db"}, func(o *Options) {
		o.Env = []string{"LEVEL=debug", "TOKEN=correct-horse"}
	})
	const said = "debug: correct-horse, rabbit-hole, hunter2-hunter2 and postgres://bob:hunter2-hunter2@h/db"
	if got, want := s.hide(said, 0), "debug: ***, ***, *** and ***"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
