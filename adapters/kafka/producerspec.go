// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"fmt"
	"strconv"
	"time"

	"github.com/IBM/sarama"

	"github.com/seed-720a3c77/harness/broker"
)

const (
	// defaultInFlight is how many records may be unanswered.
	defaultInFlight = 1024
	// openRequests is how many requests of a connection may be unanswered.
	openRequests = 5
)

// acksOf turns the word of a specification into the client's.
func acksOf(word string) (sarama.RequiredAcks, error) {
	switch word {
	case "", "all", "-1":
		return sarama.WaitForAll, nil
	case "1":
		return sarama.WaitForLocal, nil
	case "0":
		return sarama.NoResponse, nil
	}
	return 0, fmt.Errorf("acks %q: want 0, 1 or all", word)
}

// refusedProducer is what cannot be had, in one clear line.
func refusedProducer(spec broker.ProducerSpec, acks sarama.RequiredAcks) error {
	switch {
	case spec.NoConfirms:
		return fmt.Errorf("publishing without confirms: %w; acks: 0 is what a log has", broker.ErrUnsupported)
	case spec.Mandatory:
		return fmt.Errorf("mandatory publishes: %w", broker.ErrUnsupported)
	case spec.Retries < 0 || spec.InFlight < 0 || spec.BatchMax < 0 || spec.Linger < 0 || spec.Timeout < 0:
		return fmt.Errorf("retries, in-flight, batch-max, linger and timeout cannot be negative")
	case spec.Idempotent && acks != sarama.WaitForAll:
		return fmt.Errorf("idempotent needs acks: all, not %q", spec.Acks)
	case spec.Idempotent && spec.Retries == 0:
		return fmt.Errorf("idempotent needs retries: 1 or more (sarama refuses it without)")
	}
	return nil
}

// producerSettings maps a specification to the client's settings, none left to chance.
func (e *engine) producerSettings(spec broker.ProducerSpec, s *sockets) (*sarama.Config, error) {
	acks, err := acksOf(spec.Acks)
	if err != nil {
		return nil, err
	}
	if err := refusedProducer(spec, acks); err != nil {
		return nil, err
	}
	c := e.settings(spec.Name, s)
	c.Producer.RequiredAcks = acks
	c.Producer.Return.Successes = true
	c.Producer.Return.Errors = true
	c.Producer.Partitioner = newPartitioner
	c.Producer.Compression = sarama.CompressionNone
	c.Producer.Retry.Max = spec.Retries
	c.Producer.Retry.Backoff = retryBackoff
	c.Producer.Flush.Frequency = spec.Linger
	c.Producer.Flush.MaxMessages = spec.BatchMax
	c.Metadata.Retry.Max = min(spec.Retries, c.Metadata.Retry.Max)
	c.Net.MaxOpenRequests = openRequests
	if spec.Timeout > 0 {
		bound(c, spec.Timeout)
	}
	c.Producer.Timeout = c.Net.ReadTimeout
	if spec.Idempotent {
		c.Producer.Idempotent = true
		c.Net.MaxOpenRequests = 1
	}
	c.Producer.Transaction.ID = spec.TransactionID
	c.Producer.Transaction.Timeout = time.Minute
	c.Producer.Transaction.Retry.Backoff = retryBackoff
	return c, nil
}

// bound limits one attempt of everything that a client does.
func bound(c *sarama.Config, d time.Duration) {
	d = max(d.Truncate(time.Millisecond), time.Millisecond)
	c.Net.DialTimeout, c.Net.ReadTimeout, c.Net.WriteTimeout = d, d, d
	c.Metadata.Timeout = d
}

// producerTells are a producer's settings in effect.
func producerTells(c *sarama.Config, inFlight int) map[string]string {
	p := c.Producer
	return map[string]string{
		"producer.RequiredAcks":        strconv.Itoa(int(p.RequiredAcks)),
		"producer.Idempotent":          strconv.FormatBool(p.Idempotent),
		"producer.Retry.Max":           strconv.Itoa(p.Retry.Max),
		"producer.Retry.Backoff":       p.Retry.Backoff.String(),
		"producer.Timeout":             p.Timeout.String(),
		"producer.Flush.Frequency":     p.Flush.Frequency.String(),
		"producer.Flush.MaxMessages":   strconv.Itoa(p.Flush.MaxMessages),
		"producer.MaxMessageBytes":     strconv.Itoa(p.MaxMessageBytes),
		"producer.Compression":         p.Compression.String(),
		"producer.Partitioner":         "pinned, murmur2 of the key, or in turn",
		"producer.Net.MaxOpenRequests": strconv.Itoa(c.Net.MaxOpenRequests),
		"producer.Net.ReadTimeout":     c.Net.ReadTimeout.String(),
		"producer.Metadata.Retry.Max":  strconv.Itoa(c.Metadata.Retry.Max),
		"producer.Transaction.Timeout": p.Transaction.Timeout.String(),
		"producer.in-flight":           strconv.Itoa(inFlight),
		"producer.Version":             c.Version.String(),
	}
}
