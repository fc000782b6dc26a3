// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/IBM/sarama"

	"github.com/seed-720a3c77/harness/broker"
)

// Declare creates topics and returns when every partition has a leader. Nothing is left
// of it when one of them cannot be created.
func (e *engine) Declare(ctx context.Context, t broker.Topology) error {
	for _, d := range t.Destinations {
		if err := supported(d); err != nil {
			return fmt.Errorf("kafka: declare %s: %w", d.Name, err)
		}
	}
	for _, d := range t.Destinations {
		if err := e.create(ctx, d, true); err != nil {
			return fmt.Errorf("kafka: declare %s: %w", d.Name, err)
		}
	}
	for i, d := range t.Destinations {
		if err := e.createAndLead(ctx, d); err != nil {
			return fmt.Errorf("kafka: declare %s: %w", d.Name, errors.Join(err, e.undo(t.Destinations[:i])))
		}
	}
	return nil
}

// supported refuses what a log does not have.
func supported(d broker.Destination) error {
	for what, asked := range map[string]bool{
		"kind " + string(d.Kind): d.Kind != broker.Stored,
		"message groups":         d.FIFO,
		"a lease":                d.Lease != 0,
		"a limit of deliveries":  d.MaxDeliveries > 0,
		"a dead-letter queue":    d.DeadLetter != "",
		"bindings":               len(d.Bindings) > 0,
		"a deduplication window": d.DedupWindow != 0,
		"a maximum length":       d.MaxLength != 0 || d.Overflow != "",
		"a time to live":         d.TTL != 0,
		"a delay":                d.Delay != 0,
	} {
		if asked {
			return fmt.Errorf("%s: %w", what, broker.ErrUnsupported)
		}
	}
	return nil
}

// create makes one topic, or only asks whether it could be made.
func (e *engine) create(ctx context.Context, d broker.Destination, onlyAsk bool) error {
	detail := &sarama.TopicDetail{NumPartitions: int32(max(d.Partitions, 1)), ReplicationFactor: -1, ConfigEntries: map[string]*string{}}
	for name, value := range d.Native {
		detail.ConfigEntries[name] = &value
	}
	request := awaitDone // a creation whose answer was lost is not repeated: it might find itself
	if onlyAsk {
		request = askDone
	}
	err := request(ctx, func() error { return e.admin.CreateTopic(d.Name, detail, onlyAsk) })
	if errors.Is(err, sarama.ErrTopicAlreadyExists) {
		return broker.ErrExists
	}
	return reached(err)
}

func (e *engine) createAndLead(ctx context.Context, d broker.Destination) error {
	if err := e.create(ctx, d, false); err != nil {
		return err
	}
	if err := e.awaitLeaders(ctx, d); err != nil {
		return errors.Join(err, e.undo([]broker.Destination{d}))
	}
	e.tellTopic(ctx, d.Name)
	return nil
}

// awaitLeaders waits until a leader of every partition answers. Metadata alone shows a
// leader before it knows that it is one.
func (e *engine) awaitLeaders(ctx context.Context, d broker.Destination) error {
	ctx, cancel := context.WithTimeout(ctx, e.config.Timeout)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		ends, err := e.offsets(ctx, d.Name, sarama.OffsetNewest, sarama.ReadUncommitted)
		if err == nil && len(ends) == max(d.Partitions, 1) {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("no leader of all its %d partitions: %w", max(d.Partitions, 1), cmp.Or(err, ctx.Err()))
		}
	}
}

// undo removes what a Declare that failed had created, whatever its context says.
func (e *engine) undo(made []broker.Destination) error {
	ctx, cancel := context.WithTimeout(context.Background(), e.config.Timeout)
	defer cancel()
	for _, d := range made {
		if err := e.Remove(ctx, d.Name); err != nil {
			return err
		}
	}
	return nil
}

// topicSettings are what a report shows of a topic.
var topicSettings = []string{
	"min.insync.replicas", "retention.ms", "retention.bytes", "cleanup.policy", "max.message.bytes",
	"message.timestamp.type", "compression.type", "unclean.leader.election.enable",
}

// tellTopic reads a topic's settings for the report; without them the report has a gap,
// but the topic is there.
func (e *engine) tellTopic(ctx context.Context, name string) {
	resource := &sarama.ConfigResource{Type: sarama.TopicResource, Name: name, ConfigNames: topicSettings}
	found, err := ask(ctx, func() ([]*sarama.ConfigResourceResult, error) {
		return e.admin.DescribeConfigs([]*sarama.ConfigResource{resource}, sarama.DescribeConfigsOptions{})
	})
	if err != nil {
		return
	}
	settings := map[string]string{}
	for _, result := range found {
		for _, entry := range result.Configs {
			settings["topic."+entry.Name] = entry.Value
		}
	}
	e.tell(settings)
}

// Remove deletes topics. One that is gone is no error.
func (e *engine) Remove(ctx context.Context, names ...string) error {
	for _, name := range names {
		err := askDone(ctx, func() error { return e.admin.DeleteTopic(name) })
		if err != nil && !errors.Is(err, sarama.ErrUnknownTopicOrPartition) {
			return fmt.Errorf("kafka: remove %s: %w", name, reached(err))
		}
	}
	return nil
}

// Purge deletes the records of every partition up to its end; offsets go on.
func (e *engine) Purge(ctx context.Context, destination string) error {
	ends, err := e.offsets(ctx, destination, sarama.OffsetNewest, sarama.ReadUncommitted)
	if err != nil {
		return fmt.Errorf("kafka: purge %s: %w", destination, err)
	}
	err = askDone(ctx, func() error { return e.admin.DeleteRecords(destination, ends) })
	if err != nil {
		return fmt.Errorf("kafka: purge %s: %w", destination, reached(err))
	}
	return nil
}
