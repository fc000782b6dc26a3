// SPDX-License-Identifier: Apache-2.0

package rabbitmq

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"github.com/seed-720a3c77/harness/contract"
	"net"
	"time"
)

// The queue types, as x-queue-type names them.
const (
	Quorum  = "quorum"
	Classic = "classic"
)

// Config says where the broker is and which queues are used. Only Address is needed.
type Config struct {
	// Address is host:port.
	Address string
	// User and Password; an empty User is guest with the password guest.
	User     string
	Password contract.Secret
	// VHost is "/" where empty.
	VHost string
	// TLS, if given, wraps every connection; an empty ServerName is the address's host.
	TLS *tls.Config
	// Queue is the type of every queue that is declared: Quorum (the default) or Classic.
	Queue string
	// Dial opens sockets, so that a proxy or a fault can stand between; nil is a net.Dialer.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Admin is the URL of the management API, such as http://127.0.0.1:15672; "" is none.
	Admin string
	// ConsumerTimeout and ChannelTick are the broker's consumer_timeout and
	// channel_tick_interval where they are known: no client can read them. 0 is unknown,
	// and the profile's figures stand.
	ConsumerTimeout, ChannelTick time.Duration
}

func (c Config) withDefaults() (Config, error) {
	if c.Address == "" {
		return c, fmt.Errorf("rabbitmq: no address (want host:port)")
	}
	c.Queue = cmp.Or(c.Queue, Quorum)
	if c.Queue != Quorum && c.Queue != Classic {
		return c, fmt.Errorf("rabbitmq: unknown queue type %q (want %s or %s)", c.Queue, Quorum, Classic)
	}
	if c.User == "" {
		c.User, c.Password = "guest", contract.NewSecret("guest")
	}
	c.VHost = cmp.Or(c.VHost, "/")
	if c.Dial == nil {
		c.Dial = new(net.Dialer).DialContext
	}
	return c, nil
}
