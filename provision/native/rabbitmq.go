// SPDX-License-Identifier: Apache-2.0

package native

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/provision"
	"github.com/seed-720a3c77/harness/provision/probe"
)

const (
	rabbitConsumerTimeout = "6000" // ms
	rabbitChannelTick     = "1000" // ms
	rabbitNode            = "harness@localhost"
)

// rabbitmq is the system's RabbitMQ if it has one, else Debian's packages unpacked into the
// cache, with a port mapper (epmd) of its own.
type rabbitmq struct{}

func (rabbitmq) engine() string { return provision.RabbitMQ }

func (rabbitmq) ports() []string { return []string{"client", "admin", "distribution", "epmd"} }

func (r rabbitmq) configure(_ context.Context, s site) error {
	admin, plugins := 0, "[]."
	if r.managed(s) {
		admin, plugins = s.Ports["admin"], "[rabbitmq_management]."
	}
	conf, err := render("rabbitmq.conf", map[string]any{
		"Client": s.address("client"), "Admin": admin, "ConsumerTimeout": rabbitConsumerTimeout,
	})
	if err != nil {
		return err
	}
	advanced, err := render("rabbitmq-advanced.config", map[string]string{"ChannelTick": rabbitChannelTick})
	if err != nil {
		return err
	}
	return writeFiles(s.Dir, map[string]string{
		"rabbitmq.conf":   conf,
		"advanced.config": advanced,
		"enabled_plugins": plugins + "\n",
	})
}

// managed tells whether the management plugin is there.
func (rabbitmq) managed(s site) bool {
	found, _ := filepath.Glob(filepath.Join(rabbitHome(s.Home), "plugins", "rabbitmq_management-*"))
	return len(found) > 0
}

func (r rabbitmq) commands(s site) []command {
	env := r.env(s)
	return []command{
		{
			Name: "epmd",
			Path: epmdPath(s.Home),
			Args: []string{"-address", "127.0.0.1", "-port", strconv.Itoa(s.Ports["epmd"])},
			Env:  env,
		},
		{
			Name: "rabbitmq",
			Path: filepath.Join(rabbitHome(s.Home), "sbin", "rabbitmq-server"),
			Env:  env,
		},
	}
}

func (r rabbitmq) control(s site) command {
	return command{Name: "rabbitmqctl", Path: filepath.Join(rabbitHome(s.Home), "sbin", "rabbitmqctl"), Args: []string{"-q"}, Env: r.env(s)}
}

func (rabbitmq) env(s site) []string {
	file := func(name string) string { return filepath.Join(s.Dir, name) }
	env := []string{
		"RABBITMQ_HOME=" + rabbitHome(s.Home),
		"RABBITMQ_CONF_ENV_FILE=" + file("no-environment-file"),
		"RABBITMQ_CONFIG_FILE=" + file("rabbitmq.conf"),
		"RABBITMQ_ADVANCED_CONFIG_FILE=" + file("advanced.config"),
		"RABBITMQ_ENABLED_PLUGINS_FILE=" + file("enabled_plugins"),
		"RABBITMQ_MNESIA_BASE=" + file("data"),
		"RABBITMQ_LOG_BASE=" + file("log"),
		"RABBITMQ_LOGS=-",
		"RABBITMQ_NODENAME=" + rabbitNode,
		"RABBITMQ_NODE_PORT=" + strconv.Itoa(s.Ports["client"]),
		"RABBITMQ_DIST_PORT=" + strconv.Itoa(s.Ports["distribution"]),
		"RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=-kernel inet_dist_use_interface {127,0,0,1}",
		"ERL_EPMD_ADDRESS=127.0.0.1",
		"ERL_EPMD_PORT=" + strconv.Itoa(s.Ports["epmd"]),
	}
	return append(env, unpackedEnv(s.Home)...)
}

func (rabbitmq) ready(ctx context.Context, s site) (string, error) {
	return probe.RabbitMQ(ctx, s.address("client"))
}

func (r rabbitmq) endpoint(s site) provision.Endpoint {
	e := provision.Endpoint{
		Address: s.address("client"),
		Settings: map[string]string{
			provision.SettingConsumerTimeout: rabbitConsumerTimeout,
			provision.SettingChannelTick:     rabbitChannelTick,
			"collect_statistics_interval":    "1000",
			"nodes":                          "1",
		},
		Credentials: provision.Credentials{User: "guest", Password: contract.NewSecret("guest")},
	}
	if r.managed(s) {
		e.Admin = "http://" + s.address("admin")
	}
	return e
}

// writeFiles writes the files of a site.
func writeFiles(dir string, files map[string]string) error {
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return fmt.Errorf("write configuration: %w", err)
		}
	}
	return nil
}
