// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-720a3c77/harness/effects/postgres"
	"github.com/seed-720a3c77/harness/internal/catalog"
	"github.com/seed-720a3c77/harness/internal/watchdog"
)

// undoVerb removes what a harness that was killed left behind; a journal has its words. It
// is no error if it is gone already.
func undoVerb() *cobra.Command {
	cmd := &cobra.Command{Use: "undo", Hidden: true}
	cmd.AddCommand(&cobra.Command{
		Use: "folder DIR", Args: exactly(1, "a folder"),
		RunE: func(_ *cobra.Command, args []string) error { return undoFolder(args[0]) },
	}, &cobra.Command{
		Use: "queues ENGINE ADDRESS NAME...", Args: cobra.MinimumNArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			return undoQueues(cmd.Context(), args[0], args[1], args[2:])
		},
	}, &cobra.Command{
		Use: "tables PREFIX", Args: exactly(1, "a prefix"),
		RunE: func(cmd *cobra.Command, args []string) error { return undoTables(cmd.Context(), args[0]) },
	})
	return cmd
}

// Folder has the watchdog remove a temporary folder.
func (k *keeping) Folder(dir string) (done func(), err error) { return k.undo("folder", dir) }

// queues has it remove queues or topics of a broker that runs on without us.
func (k *keeping) queues(engine, address string, names []string) (done func(), err error) {
	return k.undo(append([]string{"queues", engine, address}, names...)...)
}

// Tables has it remove a store's tables from the environment's PostgreSQL.
func (k *keeping) Tables(prefix string) (done func(), err error) { return k.undo("tables", prefix) }

func (k *keeping) undo(words ...string) (done func(), err error) {
	done, err = k.Repair(append([]string{"undo"}, words...)...)
	if errors.Is(err, watchdog.ErrUnsupported) || errors.Is(err, watchdog.ErrNoFolder) {
		return func() {}, nil
	}
	return done, err
}

// undoFolder removes a folder that this program made for a while.
func undoFolder(dir string) error {
	if !filepath.IsAbs(dir) || !strings.HasPrefix(filepath.Base(dir), "harness-") {
		return usage(fmt.Errorf("undo: %s is no temporary folder of the harness", dir))
	}
	return os.RemoveAll(dir)
}

// ours is the prefix of a store's tables.
var ours = regexp.MustCompile(`^h_[0-9a-f]{8}_[0-9]+$`)

// undoTables removes a store's tables. Where they are is in the environment, not in a
// journal: it may have a password.
func undoTables(ctx context.Context, prefix string) error {
	dsn := os.Getenv(postgresVariable)
	switch {
	case !ours.MatchString(prefix):
		return usage(fmt.Errorf("undo: %q is no prefix of the harness's tables", prefix))
	case dsn == "":
		return fmt.Errorf("undo: the tables %s_* are in a database that %s named, which is not set", prefix, postgresVariable)
	}
	return postgres.Remove(ctx, dsn, prefix)
}

// undoQueues removes them from a broker, unless it is gone and they with it.
func undoQueues(ctx context.Context, name, address string, queues []string) error {
	found, err := catalog.Find(name)
	if err != nil {
		return usage(err)
	}
	if gone(address) {
		return nil
	}
	brokers, err := catalog.NewBrokers(catalog.Providing{
		Addresses: map[string]string{found[0].Broker: address}, AllowRemote: true, Only: "external",
	})
	if err != nil {
		return usage(err)
	}
	connection, err := brokers.Connect(ctx, found[0])
	if err != nil {
		return err
	}
	return errors.Join(connection.Engine.Remove(ctx, queues...), connection.Engine.Close(ctx))
}

// goneWithin bounds the question whether anybody listens.
const goneWithin = 5 * time.Second

// gone tells that nobody listens at an address, which may be a URL.
func gone(address string) bool {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		address = u.Host
	}
	c, err := net.DialTimeout("tcp", address, goneWithin)
	if err != nil {
		return errors.Is(err, syscall.ECONNREFUSED)
	}
	_ = c.Close() // nothing was sent
	return false
}
