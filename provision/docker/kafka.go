// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/seed-720a3c77/harness/provision"
	"github.com/seed-720a3c77/harness/provision/probe"
)

const (
	kafkaClient = 9092
	kafkaLink   = 9101 // the first of kafkaLinks
	kafkaLinks  = 4
	// kafkaCluster is any base64 UUID; a cluster of one does not need its own.
	kafkaCluster = "aGFybmVzcy1kb2NrZXItMQ"
)

// kafka is one KRaft node. Beside the clients' listener it has one for itself, since the
// address that it tells clients leads nowhere inside the container, and links.
type kafka struct{}

func (kafka) engine() string           { return provision.Kafka }
func (kafka) image() string            { return "apache/kafka:4.1.0" }
func (kafka) files() map[string]string { return nil }

func (kafka) published() map[string]int {
	ports := map[string]int{"client": kafkaClient}
	for i := range kafkaLinks {
		ports[linkPort(i, "upstream")] = kafkaLink + i
	}
	return ports
}

func (kafka) spare() []string {
	names := make([]string, kafkaLinks)
	for i := range names {
		names[i] = linkPort(i, "advertised")
	}
	return names
}

func linkPort(i int, side string) string { return fmt.Sprintf("link%d-%s", i+1, side) }

// short are the properties that make short workloads possible on one small node.
// https://kafka.apache.org/documentation/#brokerconfigs
func (kafka) short() map[string]string {
	return map[string]string{
		// Members may be declared dead after 0.3 s, and groups form at once.
		provision.SettingMinSession:        "300",
		"group.initial.rebalance.delay.ms": "0",
		// What expires is looked for every second or five.
		"offsets.retention.check.interval.ms":                         "5000",
		"transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
		"log.retention.check.interval.ms":                             "1000",
		// A killed broker is let back in when its lease is over, 9 s by default; one that a
		// busy machine stops for longer is shut out for nothing.
		"broker.session.timeout.ms": "6000",
		// A topic that a workload did not declare is a mistake to be seen.
		"auto.create.topics.enable": "false",
	}
}

// small are the properties that let a cluster of one node start, and soon.
func (kafka) small() map[string]string {
	small := map[string]string{
		"broker.heartbeat.interval.ms":          "500",
		"log.initial.task.delay.ms":             "1000",
		"log.segment.delete.delay.ms":           "1000",
		"log.cleaner.dedupe.buffer.size":        "16777216",
		"num.network.threads":                   "2",
		"num.io.threads":                        "4",
		"offsets.topic.replication.factor":      "1",
		"offsets.topic.num.partitions":          "4",
		"transaction.state.log.min.isr":         "1",
		"share.coordinator.state.topic.min.isr": "1",
	}
	for _, topic := range []string{"transaction.state.log", "share.coordinator.state.topic"} {
		small[topic+".replication.factor"] = "1"
		small[topic+".num.partitions"] = "4"
	}
	return small
}

func (k kafka) environment(s site) map[string]string {
	properties := map[string]string{
		"node.id":                        "1",
		"process.roles":                  "broker,controller",
		"controller.quorum.voters":       "1@localhost:9093",
		"controller.listener.names":      "CONTROLLER",
		"inter.broker.listener.name":     "INTERNAL",
		"listeners":                      k.listeners(),
		"advertised.listeners":           k.advertised(s),
		"listener.security.protocol.map": k.protocols(),
		"log.dirs":                       "/tmp/kafka-data",
	}
	maps.Copy(properties, k.short())
	maps.Copy(properties, k.small())
	environment := map[string]string{"CLUSTER_ID": kafkaCluster, "KAFKA_HEAP_OPTS": "-Xms128m -Xmx512m"}
	for key, value := range properties {
		environment[kafkaVariable(key)] = value
	}
	return environment
}

// kafkaVariable is the image's name of a property.
// https://github.com/apache/kafka/blob/trunk/docker/examples/README.md
func kafkaVariable(property string) string {
	return "KAFKA_" + strings.ToUpper(strings.ReplaceAll(property, ".", "_"))
}

func (kafka) listeners() string {
	text := fmt.Sprintf("PLAINTEXT://:%d,INTERNAL://localhost:19092,CONTROLLER://localhost:9093", kafkaClient)
	for i := range kafkaLinks {
		text += fmt.Sprintf(",LINK%d://:%d", i+1, kafkaLink+i)
	}
	return text
}

func (k kafka) advertised(s site) string {
	text := "PLAINTEXT://" + s.address("client") + ",INTERNAL://localhost:19092"
	for i, link := range k.links(s) {
		text += fmt.Sprintf(",LINK%d://%s", i+1, link.Advertised)
	}
	return text
}

func (kafka) protocols() string {
	text := "PLAINTEXT:PLAINTEXT,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT"
	for i := range kafkaLinks {
		text += fmt.Sprintf(",LINK%d:PLAINTEXT", i+1)
	}
	return text
}

func (kafka) links(s site) []provision.Link {
	links := make([]provision.Link, kafkaLinks)
	for i := range links {
		links[i] = provision.Link{
			Advertised: s.address(linkPort(i, "advertised")),
			Upstream:   s.address(linkPort(i, "upstream")),
		}
	}
	return links
}

// ready has no version to tell: no answer of the protocol has one.
func (kafka) control() string { return "" }

func (kafka) ready(ctx context.Context, s site) (string, error) {
	return "", probe.Kafka(ctx, s.address("client"))
}

func (k kafka) endpoint(s site) provision.Endpoint {
	settings := k.short()
	settings["nodes"] = "1"
	return provision.Endpoint{
		Address: s.address("client"), Version: s.version(), Links: k.links(s), Settings: settings,
	}
}
