// SPDX-License-Identifier: Apache-2.0

package blackbox

import (
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Access is how a program reaches the broker. It holds credentials: they go into the
// environment of the workers and nowhere else.
type Access struct {
	// Product is kafka, sqs or rabbitmq; Address as in HARNESS_KAFKA and so on.
	Product, Address string
	// Queue is the queue's or topic's name as the broker has it, QueueURL that of an SQS
	// queue, where it is known.
	Queue, QueueURL string
	User, Password  string
	Mechanism       string
	Region          string
	// Postgres is the DSN of the store, where the effects are in one.
	Postgres string
	TLS      bool
}

// surroundings are what one worker is told.
type surroundings struct {
	plan   *Plan
	access func(worker int) Access
	dir    string
	// hook is the address of the effect hook; "" is none.
	hook string
}

// environment is the worker's: that of the harness without its own settings and secrets,
// the documented variables, those that clients of the product read, and the user's.
func (s *surroundings) environment(worker int) []string {
	all := slices.DeleteFunc(os.Environ(), func(pair string) bool { return strings.HasPrefix(pair, "HARNESS_") })
	for _, v := range s.variables(worker) {
		if v.value != "" {
			all = append(all, v.name+"="+v.value)
		}
	}
	for _, pair := range s.plan.Env {
		all = append(all, s.fill(pair, worker))
	}
	return all
}

// runVariable marks every process of a run.
const runVariable = "HARNESS_RUN"

type variable struct{ name, value string }

func (s *surroundings) variables(worker int) []variable {
	p, a := s.plan, s.access(worker)
	all := []variable{
		{"HARNESS_ENGINE", a.Product}, {"HARNESS_ADDRESS", a.Address}, {runVariable, p.Run}, {"HARNESS_GROUP", p.Group},
		{"HARNESS_WORKER", strconv.Itoa(worker)}, {"HARNESS_DIR", s.dir}, {"HARNESS_ID_HEADER", p.IDHeader},
		{"HARNESS_USER", a.User}, {"HARNESS_PASSWORD", a.Password}, {"HARNESS_EFFECT_URL", s.effectURL(worker)}, {"HARNESS_POSTGRES", a.Postgres},
	}
	switch a.Product {
	case "kafka":
		return append(all, variable{"HARNESS_TOPIC", a.Queue},
			variable{"KAFKA_BOOTSTRAP_SERVERS", a.Address}, variable{"KAFKA_BROKERS", a.Address},
			variable{"KAFKA_TOPIC", a.Queue}, variable{"KAFKA_GROUP_ID", p.Group}, variable{"KAFKA_SASL_MECHANISM", a.Mechanism})
	case "sqs":
		return append(all, variable{"HARNESS_QUEUE", a.Queue}, variable{"HARNESS_QUEUE_URL", a.QueueURL},
			variable{"SQS_QUEUE_URL", a.QueueURL}, variable{"SQS_QUEUE_NAME", a.Queue},
			variable{"AWS_ENDPOINT_URL", a.Address}, variable{"AWS_ENDPOINT_URL_SQS", a.Address},
			variable{"AWS_ACCESS_KEY_ID", a.User}, variable{"AWS_SECRET_ACCESS_KEY", a.Password},
			variable{"AWS_REGION", a.Region}, variable{"AWS_DEFAULT_REGION", a.Region}, variable{"AWS_EC2_METADATA_DISABLED", "true"})
	}
	host, port, _ := net.SplitHostPort(a.Address)
	return append(all, variable{"HARNESS_QUEUE", a.Queue}, variable{"AMQP_URL", a.amqp()}, variable{"RABBITMQ_URL", a.amqp()},
		variable{"RABBITMQ_HOST", host}, variable{"RABBITMQ_PORT", port}, variable{"RABBITMQ_USER", a.User},
		variable{"RABBITMQ_PASSWORD", a.Password}, variable{"RABBITMQ_QUEUE", a.Queue})
}

func (a *Access) amqp() string {
	u := url.URL{Scheme: "amqp", Host: a.Address, Path: "/"}
	if a.TLS {
		u.Scheme = "amqps"
	}
	if a.User != "" {
		u.User = url.UserPassword(a.User, a.Password)
	}
	return u.String()
}

// shortSecret is the longest value of a variable that is not taken for a secret.
const shortSecret = 7

// hide takes out of a worker's words what it was told in confidence.
func (s *surroundings) hide(text string, worker int) string {
	a := s.access(worker)
	secrets := []string{a.Postgres, a.Password}
	if u, err := url.Parse(a.Postgres); err == nil && u.User != nil {
		password, _ := u.User.Password()
		secrets = append(secrets, password)
	}
	for _, pair := range s.plan.Env {
		_, value, _ := strings.Cut(pair, "=")
		secrets = append(secrets, value)
	}
	for _, secret := range secrets {
		if len(secret) > shortSecret {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return text
}

func (s *surroundings) effectURL(worker int) string {
	if s.hook == "" {
		return ""
	}
	return s.hook + "/" + strconv.Itoa(worker)
}

// fill puts values for placeholders into an argument or a variable. No credential is one:
// arguments are seen by everybody on the machine.
func (s *surroundings) fill(text string, worker int) string {
	p, a := s.plan, s.access(worker)
	return strings.NewReplacer(
		"{address}", a.Address, "{topic}", a.Queue, "{queue}", a.Queue, "{queue-url}", a.QueueURL,
		"{group}", p.Group, "{run}", p.Run, "{worker}", strconv.Itoa(worker), "{dir}", s.dir, "{effect-url}", s.effectURL(worker),
	).Replace(text)
}

// arguments are the program and its arguments, filled in.
func (s *surroundings) arguments(worker int) []string {
	var all []string
	for _, word := range s.plan.Command {
		all = append(all, s.fill(word, worker))
	}
	return all
}
