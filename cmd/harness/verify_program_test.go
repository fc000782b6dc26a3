// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/internal/catalog"
	"github.com/seed-720a3c77/harness/provision"
)

// programMode makes this test binary a consumer that verify can start.
const programMode = "VERIFY_PROGRAM"

func TestMain(m *testing.M) {
	if mode := os.Getenv(programMode); mode != "" {
		if err := consume(mode); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// How a consumer treats a message before it settles it.
var handlers = map[string]func(*sql.DB, string) error{
	// naive: does its work whatever was done before.
	"naive": func(db *sql.DB, id string) error { return insert(db, "INSERT", id) },
	// mended: the key keeps the second out.
	"mended": func(db *sql.DB, id string) error { return insert(db, "INSERT OR IGNORE", "once "+id) },
	// drops: settles every message whose number ends in 7 without doing anything.
	"drops": func(db *sql.DB, id string) error {
		if id[len(id)-1] == '7' {
			return nil
		}
		return insert(db, "INSERT OR IGNORE", "once "+id)
	},
}

func insert(db *sql.DB, verb, key string) error {
	id := key
	if len(key) > 5 && key[:5] == "once " {
		id = key[5:]
	} else {
		key += strconv.FormatInt(time.Now().UnixNano(), 36)
	}
	_, err := db.Exec(verb+" INTO done (key, id) VALUES (?, ?)", key, id)
	return err
}

// handlerTakes makes work queue up: a fault finds some in hand on any machine.
const handlerTakes = 100 * time.Millisecond

// programQuery is how its effects are asked for.
const programQuery = "SELECT id, count(*) FROM done GROUP BY id"

// consume finds its queue as any program does: in the environment.
func consume(mode string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(os.Getenv("HARNESS_DIR"), "done.db")+"?_pragma=busy_timeout(20000)&_pragma=journal_mode(WAL)")
	if err != nil {
		return err
	}
	defer db.Close()
	if err := prepare(ctx, db); err != nil {
		return err
	}
	consumer, err := connect(ctx)
	if err != nil {
		return err
	}
	batch := make([]broker.Delivery, 10)
	for ctx.Err() == nil {
		n, err := consumer.Receive(context.Background(), batch, 200*time.Millisecond)
		if err != nil {
			return err
		}
		for i := range batch[:n] {
			if err := take(consumer, &batch[i], func(id string) error { return handlers[mode](db, id) }); err != nil {
				return err
			}
		}
	}
	return consumer.Close(context.Background())
}

// prepare makes the table. The first to come switches the journal over, and SQLite lets
// nobody wait for that.
func prepare(ctx context.Context, db *sql.DB) error {
	for {
		_, err := db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS done (key TEXT PRIMARY KEY, id TEXT NOT NULL)")
		if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), "SQLITE_BUSY") {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func take(consumer broker.Consumer, d *broker.Delivery, handle func(id string) error) error {
	var order struct {
		ID string `json:"event_id"`
	}
	if err := json.Unmarshal(d.Body, &order); err != nil {
		return err
	}
	time.Sleep(handlerTakes)
	if err := handle(order.ID); err != nil {
		return err
	}
	verb := broker.Ack
	if os.Getenv("HARNESS_ENGINE") == provision.Kafka {
		verb = broker.Commit
	}
	results := make([]error, 1)
	consumer.Settle(context.Background(), []broker.Settlement{{Verb: verb, Token: d.Token}}, results)
	if results[0] != nil {
		fmt.Println("settle:", results[0]) // it will come again
	}
	return nil
}

func connect(ctx context.Context) (broker.Consumer, error) {
	name := os.Getenv("HARNESS_ENGINE")
	engines, err := catalog.FindAll(name)
	if err != nil {
		return nil, err
	}
	engine, err := engines[0].Open(ctx, provision.Endpoint{
		Engine: name, Address: os.Getenv("HARNESS_ADDRESS"), Settings: map[string]string{provision.SettingRegion: os.Getenv("AWS_REGION")},
		Credentials: provision.Credentials{User: os.Getenv("HARNESS_USER"), Password: contract.NewSecret(os.Getenv("HARNESS_PASSWORD"))},
	})
	if err != nil {
		return nil, err
	}
	run, err := strconv.ParseUint(os.Getenv("HARNESS_RUN"), 16, 32)
	if err != nil {
		return nil, err
	}
	return engine.Consumer(ctx, broker.ConsumerSpec{
		Name: fmt.Sprintf("w%s-%d", os.Getenv("HARNESS_WORKER"), os.Getpid()), Run: uint32(run),
		From: os.Getenv("HARNESS_QUEUE") + os.Getenv("HARNESS_TOPIC"), Group: os.Getenv("HARNESS_GROUP"), Batch: 10,
		Session: engine.Profile().Session.Fit(time.Second),
	})
}
