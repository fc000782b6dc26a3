// SPDX-License-Identifier: Apache-2.0

package provision

import "context"

// The engines that have providers. They are the words of the command line and of the
// environment (HARNESS_KAFKA and so on).
const (
	Kafka    = "kafka"
	SQS      = "sqs"
	RabbitMQ = "rabbitmq"
)

// Engines lists every engine that can be provided, in the order they are shown.
func Engines() []string { return []string{Kafka, SQS, RabbitMQ} }

// Endpoint is one running broker as a client sees it. It may be marshalled: credentials
// and node handles stay behind.
type Endpoint struct {
	Engine   string `json:"engine"`   // Kafka, SQS or RabbitMQ
	Provider string `json:"provider"` // external, docker or native

	// Address is host:port[,host:port] for Kafka, a URL for SQS, host:port (AMQP) for RabbitMQ.
	Address string `json:"address"`
	// Admin is the URL of RabbitMQ's management API; empty where there is none.
	Admin string `json:"admin,omitempty"`
	// Version is what the server or the provider says; empty if unknown.
	Version string `json:"version,omitempty"`
	// Settings are facts that the provider set or found, under the broker's own names.
	// A key that is missing is unknown, not default.
	Settings map[string]string `json:"settings,omitempty"`
	// Links are the places where a proxy can be put in front of a broker that tells its
	// clients where to connect (Kafka). Brokers that do not need them have none.
	Links []Link `json:"links,omitempty"`

	Credentials Credentials `json:"-"`
	// Nodes are the processes or containers behind the address; none for external ones.
	Nodes []Node `json:"-"`
}

// Setting names that more than one package reads.
const (
	// SettingMinSession is Kafka's lowest session timeout of a group member, in milliseconds.
	// https://kafka.apache.org/documentation/#brokerconfigs_group.min.session.timeout.ms
	SettingMinSession = "group.min.session.timeout.ms"
	// SettingConsumerTimeout is RabbitMQ's delivery acknowledgement timeout in milliseconds.
	// https://www.rabbitmq.com/docs/consumers#acknowledgement-timeout
	SettingConsumerTimeout = "consumer_timeout"
	// SettingChannelTick is how often RabbitMQ looks at that timeout, in milliseconds.
	SettingChannelTick = "channel_tick_interval"
	// SettingRegion is the AWS region that requests to SQS are signed for.
	SettingRegion = "region"
)

// Link is one spare listener of a broker. Who listens at Advertised and forwards to
// Upstream sees all traffic of the clients that bootstrap from Advertised.
type Link struct {
	Advertised string `json:"advertised"` // free until a proxy listens there
	Upstream   string `json:"upstream"`
}

// Node is one broker process or container that can be broken and repaired. Its methods
// may be called from any goroutine and from another process than the one that started it.
type Node interface {
	// Name identifies the node in reports, for example "native/kafka/1".
	Name() string
	// PID is the process id on this host, 0 if it has none.
	PID() int
	// Kill ends the node at once, without any shutdown (SIGKILL), and returns when it is gone.
	Kill(ctx context.Context) error
	// Freeze stops the node without closing a connection (SIGSTOP); Thaw lets it go on.
	Freeze(ctx context.Context) error
	Thaw(ctx context.Context) error
	// Restart starts a node again at the same addresses with the data it had, killing it
	// first if it still runs, and returns when it answers.
	Restart(ctx context.Context) error
	// Control runs the broker's own control program (rabbitmqctl) on the node and returns
	// what it prints. Brokers that have none answer errors.ErrUnsupported.
	Control(ctx context.Context, args ...string) (string, error)
}
