// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/seed-720a3c77/harness/adapters/kafka"
	"github.com/seed-720a3c77/harness/adapters/rabbitmq"
	"github.com/seed-720a3c77/harness/adapters/sqs"
	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/provision"
)

func openKafka(ctx context.Context, at provision.Endpoint) (broker.Engine, error) {
	secure, err := tlsConfig(at.Credentials.TLS)
	if err != nil {
		return nil, fmt.Errorf("kafka: %w", err)
	}
	return kafka.Open(ctx, kafka.Config{
		Addresses: strings.Split(at.Address, ","), TLS: secure,
		SASL: kafka.SASL{User: at.Credentials.User, Password: at.Credentials.Password.Reveal(), Mechanism: at.Credentials.Mechanism},
	})
}

func openSQS(queues string) func(context.Context, provision.Endpoint) (broker.Engine, error) {
	return func(ctx context.Context, at provision.Endpoint) (broker.Engine, error) {
		return sqs.Open(ctx, sqs.Config{
			Endpoint: at.Address, Region: at.Settings[provision.SettingRegion], Queue: queues,
			AccessKeyID: at.Credentials.User, SecretAccessKey: at.Credentials.Password,
		})
	}
}

func openRabbitMQ(queues string) func(context.Context, provision.Endpoint) (broker.Engine, error) {
	return func(ctx context.Context, at provision.Endpoint) (broker.Engine, error) {
		secure, err := tlsConfig(at.Credentials.TLS)
		if err != nil {
			return nil, fmt.Errorf("rabbitmq: %w", err)
		}
		return rabbitmq.Open(ctx, rabbitmq.Config{
			Address: at.Address, User: at.Credentials.User, Password: at.Credentials.Password,
			TLS: secure, Queue: queues, Admin: at.Admin,
			ConsumerTimeout: milliseconds(at.Settings[provision.SettingConsumerTimeout]),
			ChannelTick:     milliseconds(at.Settings[provision.SettingChannelTick]),
		})
	}
}

// milliseconds reads a broker's setting; what is no number is unknown, which is 0.
func milliseconds(text string) time.Duration {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(n) * time.Millisecond
}

// tlsConfig reads the files of a TLS set-up; nil is plain text.
func tlsConfig(t provision.TLS) (*tls.Config, error) {
	if !t.Enabled {
		return nil, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if t.CA != "" {
		pem, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, fmt.Errorf("TLS authorities: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("TLS authorities: %s holds no PEM certificate", t.CA)
		}
	}
	if t.Cert != "" {
		pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, fmt.Errorf("TLS certificate: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}
