// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"time"

	"github.com/IBM/sarama"
)

const (
	// maxWait is how long a fetch waits at the end of a log. Heartbeats and commits of a
	// consumer queue behind it on the same connection, so it is short.
	maxWait = 50 * time.Millisecond
	// channelBuffer is how many records of a partition the client holds ahead.
	channelBuffer = 256
	// retryBackoff is the pause between two attempts of anything.
	retryBackoff = 100 * time.Millisecond
)

// settings are what all clients of the engine have in common.
func (e *engine) settings(name string, s *sockets) *sarama.Config {
	c := sarama.NewConfig()
	c.ClientID = name
	c.Version = e.protocol
	c.ChannelBufferSize = channelBuffer
	c.Net.Proxy.Enable = true
	c.Net.Proxy.Dialer = s
	c.Net.DialTimeout = e.config.Timeout
	c.Net.ReadTimeout = e.config.Timeout
	c.Net.WriteTimeout = e.config.Timeout
	c.Metadata.Full = false
	c.Metadata.AllowAutoTopicCreation = false
	c.Metadata.Retry.Max = 3
	c.Metadata.Retry.Backoff = retryBackoff
	c.Admin.Timeout = e.config.Timeout
	secure(c, e.config)
	return c
}

func secure(c *sarama.Config, config Config) {
	if config.TLS != nil {
		c.Net.TLS.Enable = true
		c.Net.TLS.Config = config.TLS
	}
	if config.SASL.User == "" {
		return
	}
	c.Net.SASL.Enable = true
	c.Net.SASL.User = config.SASL.User
	c.Net.SASL.Password = config.SASL.Password
	c.Net.SASL.Mechanism = sarama.SASLMechanism(config.SASL.mechanism())
	c.Net.SASL.SCRAMClientGeneratorFunc = scramGenerator(config.SASL.mechanism())
}

// client opens the connections of one producer or consumer and knows a destination.
func (e *engine) client(c *sarama.Config, topics ...string) (sarama.Client, error) {
	client, err := sarama.NewClient(e.config.Addresses, c)
	if err != nil {
		return nil, err
	}
	if len(topics) == 0 {
		return client, nil
	}
	if err := client.RefreshMetadata(topics...); err != nil {
		client.Close()
		return nil, err
	}
	return client, nil
}
