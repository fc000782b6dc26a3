// SPDX-License-Identifier: Apache-2.0

package local

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
)

// Ports are taken below the range from which systems take the local port of outgoing
// connections, so that none of those occupies a port while its broker restarts.
const (
	firstPort = 15000
	lastPort  = 32000
)

// FreePorts gives every name a port of its own on which nothing listens at loopback. It
// holds none of them: whoever binds one later may find it taken.
func FreePorts(names []string) (map[string]int, error) {
	ports := make(map[string]int, len(names))
	at := firstPort + rand.IntN(lastPort-firstPort)
	for range lastPort - firstPort {
		if len(ports) == len(names) {
			return ports, nil
		}
		if at++; at >= lastPort {
			at = firstPort
		}
		if free(at) {
			ports[names[len(ports)]] = at
		}
	}
	return nil, errors.New("no free loopback port")
}

func free(port int) bool {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}
