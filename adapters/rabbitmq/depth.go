// SPDX-License-Identifier: Apache-2.0

package rabbitmq

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/seed-720a3c77/harness/broker"
)

// statisticsAge is how old the management API's figures may be: the broker collects them
// at this interval. https://www.rabbitmq.com/docs/management#statistics-interval
const statisticsAge = 5 * time.Second

// Depth is exact for what is ready, by a passive declaration. In flight needs Config.Admin,
// and its age is then part of Took. An exchange holds nothing that could be measured.
func (e *engine) Depth(ctx context.Context, destination, _ string) (broker.Depth, error) {
	start := time.Now()
	d := broker.Depth{
		Ready: broker.Unmeasured, InFlight: broker.Unmeasured, Delayed: broker.Unmeasured,
		Start: broker.Unmeasured, End: broker.Unmeasured, Stable: broker.Unmeasured, Committed: broker.Unmeasured,
	}
	if f, _ := e.factsOf(destination); f.exchange {
		return d, nil
	}
	err := e.admin.do(ctx, func(channel *amqp.Channel) error {
		queue, err := channel.QueueDeclarePassive(destination, true, false, false, false, nil)
		d.Ready = int64(queue.Messages)
		return err
	})
	if err != nil {
		return d, fmt.Errorf("rabbitmq: depth of %s: %w", destination, err)
	}
	if e.config.Admin != "" {
		if d.InFlight, err = unacked(ctx, e.config, destination); err != nil {
			return d, fmt.Errorf("rabbitmq: depth of %s: %w", destination, err)
		}
		d.Took = statisticsAge
	}
	d.Took += time.Since(start)
	return d, nil
}

// unacked asks the management API how many messages are with consumers.
func unacked(ctx context.Context, c Config, queue string) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	address := strings.TrimSuffix(c.Admin, "/") + "/api/queues/" + url.PathEscape(c.VHost) + "/" + url.PathEscape(queue)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return broker.Unmeasured, fmt.Errorf("management API: %w", err)
	}
	request.SetBasicAuth(c.User, c.Password.Reveal())
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return broker.Unmeasured, fmt.Errorf("management API: %w", err)
	}
	defer response.Body.Close()
	return readUnacked(response)
}

// readUnacked reports Unmeasured for a queue whose figures were not collected yet.
func readUnacked(response *http.Response) (int64, error) {
	if response.StatusCode != http.StatusOK {
		return broker.Unmeasured, fmt.Errorf("management API: %s", response.Status)
	}
	var body struct {
		Unacked *int64 `json:"messages_unacknowledged"`
	}
	if err := json.NewDecoder(response.Body).Decode(&body); err != nil {
		return broker.Unmeasured, fmt.Errorf("management API: %w", err)
	}
	if body.Unacked == nil {
		return broker.Unmeasured, nil
	}
	return *body.Unacked, nil
}
