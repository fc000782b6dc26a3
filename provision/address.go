// SPDX-License-Identifier: Apache-2.0

package provision

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// ErrAddress is matched when an address is refused before anything is sent to it: it cannot
// be understood, carries a password, or is not loopback.
var ErrAddress = errors.New("address refused")

// CheckAddress refuses an address that no client of engine could use, or that holds a
// credential, with ErrAddress. It looks no name up: whether the host is loopback is asked
// when the broker is.
func CheckAddress(engine, address string) error {
	_, err := hostPorts(engine, address)
	return err
}

// hostPorts returns the host:port pairs that a client of engine would connect to. The error
// never repeats an address that may hold a password.
func hostPorts(engine, address string) ([]string, error) {
	if strings.Contains(address, "@") {
		return nil, fmt.Errorf("%w: the address of %s has a user or password in it; set HARNESS_%s_USER and HARNESS_%[3]s_PASSWORD instead",
			ErrAddress, engine, strings.ToUpper(engine))
	}
	if engine == SQS {
		return urlHostPort(address)
	}
	var pairs []string
	for pair := range strings.SplitSeq(address, ",") {
		pair = strings.TrimSpace(pair)
		if err := checkHostPort(pair); err != nil {
			return nil, fmt.Errorf("%w: %s address: %w", ErrAddress, engine, err)
		}
		pairs = append(pairs, pair)
	}
	if engine != Kafka && len(pairs) > 1 {
		return nil, fmt.Errorf("%w: %s takes one address, not %d", ErrAddress, engine, len(pairs))
	}
	return pairs, nil
}

func urlHostPort(address string) ([]string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("%w: sqs address: want a URL like http://127.0.0.1:4566", ErrAddress)
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%w: sqs address: want a URL without a query, which may hold a credential", ErrAddress)
	}
	if u.Port() != "" {
		return []string{u.Host}, checkURLPort(u)
	}
	port := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	return []string{net.JoinHostPort(u.Hostname(), port)}, nil
}

func checkURLPort(u *url.URL) error {
	if err := checkHostPort(u.Host); err != nil {
		return fmt.Errorf("%w: sqs address %q: %w", ErrAddress, u.Host, err)
	}
	return nil
}

func checkHostPort(pair string) error {
	host, port, err := net.SplitHostPort(pair)
	if err != nil || host == "" || strings.Contains(host, "/") {
		return errors.New("want host:port, without scheme and path")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return errors.New("want host:port with a port from 1 to 65535")
	}
	return nil
}

// resolver looks a host name up; net.DefaultResolver in production.
type resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// checkLoopback refuses a host:port of which any IP address is not loopback.
func checkLoopback(ctx context.Context, r resolver, pair string) error {
	host, _, err := net.SplitHostPort(pair)
	if err != nil {
		return fmt.Errorf("%w: %q: %w", ErrAddress, pair, err)
	}
	addresses, err := r.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return fmt.Errorf("%w: cannot resolve %s: %w", ErrAddress, host, err)
	}
	for _, a := range addresses {
		if !a.Unmap().IsLoopback() {
			return fmt.Errorf("%w: %s is %s, which is not loopback; faults and purges would reach another machine (use --allow-remote if you mean it)",
				ErrAddress, pair, a)
		}
	}
	return nil
}
