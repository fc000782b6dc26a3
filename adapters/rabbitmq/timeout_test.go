// SPDX-License-Identifier: Apache-2.0

package rabbitmq

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/internal/testenv"
)

// TestConsumerTimeout: the broker closes the channel of whoever holds a delivery too long,
// and gives out again all that it held.
func TestConsumerTimeout(t *testing.T) {
	testenv.Short(t, "waits for the broker's consumer timeout")
	testenv.Need(t, "rabbitmq")
	timeout := brokerSetting("consumer_timeout")
	if timeout == 0 || timeout > 10*time.Second {
		t.Logf("not covered: the broker's consumer timeout is %v, want one of at most 10s", timeout)
		return
	}
	each(t, func(t *testing.T, e *engine) {
		e.config.ConsumerTimeout = timeout
		to := queue(t, e, broker.Destination{})
		s := newSender(t, e, nil)
		s.send(to, 2)
		s.flush()
		r := newReceiver(t, e, to, nil)
		if d := r.take(2); d[0].Lease != timeout {
			t.Errorf("lease %v, want %v", d[0].Lease, timeout)
		}
		var said *broker.Error
		if why := r.fails(); !errors.As(why, &said) || said.Code != "406" || !strings.Contains(why.Error(), "timed out") {
			t.Errorf("receive: %v; want 406 for the timeout", why)
		}
		newReceiver(t, e, to, nil).take(2)
	})
}

// brokerSetting reads what the provider of the broker says of it, in milliseconds.
func brokerSetting(name string) time.Duration {
	for pair := range strings.SplitSeq(os.Getenv("HARNESS_RABBITMQ_SETTINGS"), ",") {
		if key, value, _ := strings.Cut(pair, "="); key == name {
			n, _ := strconv.Atoi(value)
			return time.Duration(n) * time.Millisecond
		}
	}
	return 0
}
