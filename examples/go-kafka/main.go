// SPDX-License-Identifier: Apache-2.0

// Command go-kafka is an order-payment consumer on Kafka, with sarama and SQLite, twice:
//
//	go-kafka naive    looks whether the event was paid, pays, and notes the event
//	go-kafka mended   notes the event and pays in one transaction, under a unique key
//
// The naive one checks first and acts later (check-then-act): two workers that hold the
// same event, after a rebalance or because it is stored twice, both see that nothing was
// paid. It also pays and notes apart from each other, so that a crash in between pays again.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/IBM/sarama"
	_ "modernc.org/sqlite"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "go-kafka:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	if len(os.Args) != 2 || os.Args[1] != "naive" && os.Args[1] != "mended" {
		return errors.New("want one argument: naive or mended")
	}
	db, err := open(filepath.Join(os.Getenv("HARNESS_DIR"), "payments.db"))
	if err != nil {
		return err
	}
	defer db.Close()
	handle := naive
	if os.Args[1] == "mended" {
		handle = mended
	}
	group, err := sarama.NewConsumerGroup(strings.Split(os.Getenv("KAFKA_BROKERS"), ","), os.Getenv("KAFKA_GROUP_ID"), config())
	if err != nil {
		return err
	}
	defer group.Close()
	for ctx.Err() == nil {
		err := group.Consume(ctx, []string{os.Getenv("KAFKA_TOPIC")}, consumer{db, handle})
		if err != nil && ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, "go-kafka: join again:", err)
			time.Sleep(rejoin)
		}
	}
	return nil
}

// rejoin is how long to wait after a group could not be joined.
const rejoin = 200 * time.Millisecond

// config begins at the oldest record, and has a short session and quick rebalances, so that
// the partitions of a dead worker move soon.
func config() *sarama.Config {
	c := sarama.NewConfig()
	c.Version = sarama.V3_6_0_0
	c.Consumer.Offsets.Initial = sarama.OffsetOldest
	c.Consumer.Offsets.AutoCommit.Interval = 500 * time.Millisecond
	c.Consumer.Group.Session.Timeout = 2 * time.Second
	c.Consumer.Group.Heartbeat.Interval = 300 * time.Millisecond
	c.Consumer.Group.Rebalance.Timeout = 5 * time.Second
	c.Consumer.Group.Rebalance.Retry.Max = 50
	c.Consumer.Group.Rebalance.Retry.Backoff = rejoin
	return c
}

// consumer hands each record to a handler and marks it when the handler is done. It leaves
// a partition as soon as the group asks for it: what is buffered then is another's.
type consumer struct {
	db     *sql.DB
	handle func(context.Context, *sql.DB, order) error
}

func (consumer) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (consumer) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (c consumer) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for {
		select {
		case <-session.Context().Done():
			return nil
		case record, open := <-claim.Messages():
			if !open {
				return nil
			}
			if err := c.take(session.Context(), record); err != nil {
				return err
			}
			session.MarkMessage(record, "")
		}
	}
}

func (c consumer) take(ctx context.Context, record *sarama.ConsumerMessage) error {
	var o order
	if err := json.Unmarshal(record.Value, &o); err != nil {
		return fmt.Errorf("offset %d: %w", record.Offset, err)
	}
	return c.handle(ctx, c.db, o)
}
