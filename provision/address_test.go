// SPDX-License-Identifier: Apache-2.0

package provision

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

func TestHostPorts(t *testing.T) {
	for _, tc := range []struct {
		engine, address string
		want            []string // nil: refused
	}{
		{Kafka, "127.0.0.1:9092", []string{"127.0.0.1:9092"}},
		{Kafka, "a:1, b:2", []string{"a:1", "b:2"}},
		{Kafka, "[::1]:9092", []string{"[::1]:9092"}},
		{Kafka, "127.0.0.1", nil},
		{Kafka, ":9092", nil},
		{Kafka, "a:1,", nil},
		{Kafka, "a:0", nil},
		{Kafka, "a:65536", nil},
		{Kafka, "a:kafka", nil},
		{RabbitMQ, "localhost:5672", []string{"localhost:5672"}},
		{RabbitMQ, "a:1,b:2", nil},
		{RabbitMQ, "amqp://localhost:5672", nil},
		{RabbitMQ, "amqp://guest:hunter2@localhost:5672", nil},
		{SQS, "http://127.0.0.1:4566", []string{"127.0.0.1:4566"}},
		{SQS, "https://sqs.eu-west-1.amazonaws.com", []string{"sqs.eu-west-1.amazonaws.com:443"}},
		{SQS, "http://[::1]", []string{"[::1]:80"}},
		{SQS, "127.0.0.1:4566", nil},
		{SQS, "http://127.0.0.1:99999", nil},
		{SQS, "ftp://127.0.0.1:4566", nil},
		{SQS, "http://key:hunter2@127.0.0.1:4566", nil},
		{SQS, "http://127.0.0.1:4566/?secret=hunter2", nil},
		{RabbitMQ, "amqp://localhost:5672/?password=hunter2", nil},
		{Kafka, "localhost:hunter2", nil},
	} {
		got, err := hostPorts(tc.engine, tc.address)
		if tc.want == nil {
			if !errors.Is(err, ErrAddress) {
				t.Errorf("%s %q: error %v, want ErrAddress", tc.engine, tc.address, err)
			} else if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s: the error tells a password: %v", tc.engine, err)
			}
			continue
		}
		if err != nil || !slices.Equal(got, tc.want) {
			t.Errorf("%s %q = %v, %v, want %v", tc.engine, tc.address, got, err, tc.want)
		}
	}
}

// hosts is a resolver that knows only what is listed.
type hosts map[string][]string

func (h hosts) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	var found []netip.Addr
	for _, a := range h[host] {
		found = append(found, netip.MustParseAddr(a))
	}
	if found == nil {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return found, nil
}

func TestOnlyLoopbackIsAllowed(t *testing.T) {
	resolver := hosts{
		"localhost": {"127.0.0.1", "::1"},
		"mapped":    {"::ffff:127.0.0.1"},
		"split":     {"127.0.0.1", "10.0.0.7"},
		"broker":    {"10.0.0.7"},
	}
	for pair, allowed := range map[string]bool{
		"localhost:1": true, "127.0.0.1:1": true, "127.8.8.8:1": true, "[::1]:1": true, "mapped:1": true,
		"broker:1": false, "split:1": false, "0.0.0.0:1": false, "[::]:1": false, "192.168.1.1:1": false, "nowhere:1": false,
	} {
		err := checkLoopback(t.Context(), resolver, pair)
		if allowed != (err == nil) || (!allowed && !errors.Is(err, ErrAddress)) {
			t.Errorf("%s: %v, want allowed %v", pair, err, allowed)
		}
	}
}
