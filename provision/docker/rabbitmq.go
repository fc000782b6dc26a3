// SPDX-License-Identifier: Apache-2.0

package docker

import (
	"context"
	_ "embed"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/provision"
	"github.com/seed-720a3c77/harness/provision/probe"
)

// rabbitAdvanced has the two timeouts that endpoint tells.
//
//go:embed recipe/rabbitmq-advanced.config
var rabbitAdvanced string

// rabbitmq is one node with the management plugin.
type rabbitmq struct{}

func (rabbitmq) engine() string { return provision.RabbitMQ }
func (rabbitmq) image() string  { return "rabbitmq:4.0.5-management" }
func (rabbitmq) published() map[string]int {
	return map[string]int{"client": 5672, "admin": 15672}
}
func (rabbitmq) spare() []string                    { return nil }
func (rabbitmq) environment(site) map[string]string { return nil }

func (rabbitmq) files() map[string]string {
	return map[string]string{"/etc/rabbitmq/advanced.config": rabbitAdvanced}
}

func (rabbitmq) control() string { return "rabbitmqctl" }

func (rabbitmq) ready(ctx context.Context, s site) (string, error) {
	return probe.RabbitMQ(ctx, s.address("client"))
}

func (rabbitmq) endpoint(s site) provision.Endpoint {
	return provision.Endpoint{
		Address: s.address("client"),
		Admin:   "http://" + s.address("admin"),
		Version: s.version(),
		Settings: map[string]string{
			provision.SettingConsumerTimeout: "6000",
			provision.SettingChannelTick:     "1000",
			"collect_statistics_interval":    "1000",
			"nodes":                          "1",
		},
		Credentials: provision.Credentials{User: "guest", Password: contract.NewSecret("guest")},
	}
}
