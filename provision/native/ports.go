// SPDX-License-Identifier: Apache-2.0

package native

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

// freePorts gives every name a port of its own that nothing listens on at loopback.
func freePorts(names []string) (map[string]int, error) {
	ports := make(map[string]int, len(names))
	at := firstPort + rand.IntN(lastPort-firstPort)
	for tried := 0; len(ports) < len(names); tried++ {
		if tried > lastPort-firstPort {
			return nil, errors.New("no free loopback port")
		}
		if at++; at >= lastPort {
			at = firstPort
		}
		if free(at) {
			ports[names[len(ports)]] = at
		}
	}
	return ports, nil
}

func free(port int) bool {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return false
	}
	l.Close()
	return true
}
