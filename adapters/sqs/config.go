// SPDX-License-Identifier: Apache-2.0

package sqs

import (
	"cmp"
	"fmt"
	"github.com/seed-720a3c77/harness/contract"
	"net"
	"net/http"
	"net/url"
	"time"
)

// The kinds of queue.
const (
	Standard = "standard"
	FIFO     = "fifo"
)

// Config says where the service is and which queues are used. Only Endpoint is needed.
type Config struct {
	// Endpoint is the service's URL.
	Endpoint string
	// Region is signed into every request; empty is us-east-1.
	Region string
	// AccessKeyID and SecretAccessKey; both empty is test and test on a loopback
	// endpoint, and refused on any other.
	AccessKeyID     string
	SecretAccessKey contract.Secret
	// Queue is the kind of every queue: Standard (the default) or FIFO.
	Queue string
	// Timeout bounds one attempt of a request, beside the wait of a poll; 0 is 30 s.
	Timeout time.Duration
	// Transport, if given, wraps the transport of every client, so that a fault can stand
	// between: it may drop, delay or change requests and answers.
	Transport func(http.RoundTripper) http.RoundTripper
}

func (c Config) withDefaults() (Config, error) {
	endpoint, err := url.Parse(c.Endpoint)
	if err != nil || endpoint.Host == "" || endpoint.Scheme != "http" && endpoint.Scheme != "https" {
		return c, fmt.Errorf("sqs: endpoint %q is not the URL of a service (want http://host:port)", c.Endpoint)
	}
	c.Queue = cmp.Or(c.Queue, Standard)
	if c.Queue != Standard && c.Queue != FIFO {
		return c, fmt.Errorf("sqs: unknown kind of queue %q (want %s or %s)", c.Queue, Standard, FIFO)
	}
	if c.AccessKeyID == "" && !loopback(endpoint.Hostname()) {
		return c, fmt.Errorf("sqs at %s: credentials are needed where the endpoint is not on this machine", c.Endpoint)
	}
	if c.AccessKeyID == "" {
		c.AccessKeyID, c.SecretAccessKey = "test", contract.NewSecret("test")
	}
	c.Region = cmp.Or(c.Region, "us-east-1")
	c.Timeout = cmp.Or(c.Timeout, 30*time.Second)
	return c, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
