// SPDX-License-Identifier: Apache-2.0

package rabbitmq

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/contract/profiles"
)

// Open connects and takes the profile of the version that the server reports, or the
// nearest one, which Settings then says. The error is broker.ErrUnreachable or
// broker.ErrDenied with the address and what was tried.
func Open(ctx context.Context, c Config) (broker.Engine, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	first, err := dial(ctx, c, "harness-admin", 0)
	if err != nil {
		return nil, err
	}
	version, _ := first.conn.Properties["version"].(string)
	profile, exact, err := profiles.For("rabbitmq", version, c.Queue)
	if err != nil {
		first.cut()
		return nil, fmt.Errorf("rabbitmq at %s: %w", c.Address, err)
	}
	return &engine{
		config:   c,
		profile:  fitted(profile, c),
		settings: settings(c, first.conn, profile, exact),
		admin:    admin{config: c, link: first},
		known:    map[string]facts{},
	}, nil
}

// fitted puts what is known of this broker into the profile.
func fitted(p contract.Profile, c Config) contract.Profile {
	if c.ConsumerTimeout > 0 {
		p.Lease.Default = c.ConsumerTimeout
	}
	if c.ChannelTick > 0 {
		p.Lease.Tick = c.ChannelTick
	}
	return p
}

// settings are what is in effect, by the names of broker and client.
func settings(c Config, conn *amqp.Connection, p contract.Profile, exact bool) map[string]string {
	version, _ := conn.Properties["version"].(string)
	client, _ := amqp.NewConnectionProperties()["version"].(string)
	all := map[string]string{
		"server.version":        version,
		"client":                "amqp091-go " + client,
		"x-queue-type":          c.Queue,
		"vhost":                 c.VHost,
		"tls":                   strconv.FormatBool(c.TLS != nil),
		"heartbeat":             p.Session.Default.String(),
		"frame-max":             strconv.Itoa(conn.Config.FrameSize),
		"automatic-recovery":    "off",
		"delivery-mode":         "persistent unless a message is transient",
		"publisher-confirms":    "on, in tag order (NotifyPublish)",
		"publisher-in-flight":   strconv.Itoa(defaultInFlight),
		"publisher-timeout":     defaultTimeout.String() + " unless set",
		"consumer-prefetch":     "the batch unless set; " + strconv.Itoa(defaultPrefetch) + " where neither is",
		"consumer-ack":          "one basic.ack frame a settlement",
		"channels":              "one a connection, one connection a producer or consumer",
		"queue-durable":         "true",
		"management-api":        strconv.FormatBool(c.Admin != ""),
		"consumer_timeout":      known(c.ConsumerTimeout),
		"channel_tick_interval": known(c.ChannelTick),
	}
	if !exact {
		all["profile-note"] = fmt.Sprintf("no profile for version %s: the nearest is %s", version, p.Name)
	}
	return all
}

func known(d time.Duration) string {
	if d == 0 {
		return "unknown"
	}
	return d.String()
}

// Profile is constant for the life of the engine.
func (e *engine) Profile() contract.Profile { return e.profile }

// Settings are a copy.
func (e *engine) Settings() map[string]string { return maps.Clone(e.settings) }
