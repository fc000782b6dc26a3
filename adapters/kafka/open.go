// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/IBM/sarama"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/contract/profiles"
)

// minSession is the broker's lowest session timeout of a group member, in milliseconds.
// https://kafka.apache.org/documentation/#brokerconfigs_group.min.session.timeout.ms
const minSession = "group.min.session.timeout.ms"

// Open connects, finds out which broker this is and picks its profile. Errors name the
// addresses and what was tried; they wrap broker.ErrUnreachable or broker.ErrDenied.
func Open(ctx context.Context, config Config) (broker.Engine, error) {
	config, err := config.checked()
	if err != nil {
		return nil, err
	}
	e := newEngine(config)
	if err := e.connect(ctx); err != nil {
		e.sockets.cut()
		return nil, err
	}
	if err := e.learn(ctx); err != nil {
		e.Close(ctx)
		return nil, err
	}
	return e, nil
}

// connect opens the client that the engine itself uses.
func (e *engine) connect(ctx context.Context) error {
	c := e.settings("harness", e.sockets)
	c.Metadata.Full = true
	if err := awaitDone(ctx, func() error { return e.knock(c) }); err != nil {
		return fmt.Errorf("kafka: open: %w", err)
	}
	client, err := await(ctx, func() (sarama.Client, error) { return e.patientClient(ctx, c) })
	if err != nil {
		return e.openError("read the cluster's metadata", err)
	}
	e.admin, err = sarama.NewClusterAdminFromClient(client)
	if err != nil {
		client.Close()
		return e.openError("open an admin client", err)
	}
	e.shared = client
	return nil
}

// patientClient waits for a broker that answers but names no broker, not even itself: it
// starts up, or has missed its heartbeats to the controller.
func (e *engine) patientClient(ctx context.Context, c *sarama.Config) (sarama.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, e.config.Timeout)
	defer cancel()
	for {
		client, err := e.client(c)
		if !errors.Is(err, sarama.ErrOutOfBrokers) {
			return client, err
		}
		select {
		case <-time.After(retryBackoff):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// knock connects to one address after the other until one lets it in. The client itself
// keeps from its caller why a broker did not.
func (e *engine) knock(c *sarama.Config) error {
	var refusals []error
	for _, address := range e.config.Addresses {
		err := knockAt(address, c)
		if err == nil {
			return nil
		}
		refusals = append(refusals, fmt.Errorf("%s: connect, negotiate versions, authenticate as %v: %w", address, e.config.SASL, closedDoor(err)))
	}
	return errors.Join(refusals...)
}

func knockAt(address string, c *sarama.Config) error {
	b := sarama.NewBroker(address)
	if err := b.Open(c); err != nil {
		return err
	}
	connected, err := b.Connected()
	if connected {
		b.Close()
	}
	return err
}

// closedDoor makes an error one of the two that Open promises.
func closedDoor(err error) error {
	err = reached(err)
	if errors.Is(err, broker.ErrDenied) || errors.Is(err, broker.ErrUnreachable) {
		return err
	}
	return fmt.Errorf("%w: %w", broker.ErrUnreachable, err)
}

// learn reads version and settings of the broker and puts them into the profile.
func (e *engine) learn(ctx context.Context) error {
	node, err := await(ctx, e.shared.Controller)
	if err != nil {
		return e.openError("find the controller", err)
	}
	versions, err := await(ctx, func() (*sarama.ApiVersionsResponse, error) {
		return node.ApiVersions(&sarama.ApiVersionsRequest{Version: 4, ClientSoftwareName: "harness", ClientSoftwareVersion: "1"})
	})
	if err != nil {
		return e.openError("read the broker's version", err)
	}
	e.version = versionOf(versions.SupportedFeatures)
	e.protocol = protocol(e.version)
	if err := e.pickProfile(); err != nil {
		return err
	}
	return e.learnSettings(ctx, node.ID())
}

// pickProfile takes the profile of the version that the broker reports, or the nearest.
func (e *engine) pickProfile() error {
	if e.config.Profile != nil {
		e.profile = *e.config.Profile
		e.tells["profile"] = e.profile.Name + " (given)"
	} else {
		p, exact, err := profiles.For("kafka", e.version, "range")
		if err != nil {
			return fmt.Errorf("kafka: %w", err)
		}
		e.profile = p
		e.tells["profile"] = p.Name
		if !exact {
			e.tells["profile"] += " (the nearest to version " + shown(e.version) + ")"
		}
	}
	e.tells["broker.version"] = shown(e.version)
	e.profile.Nodes = len(e.shared.Brokers())
	e.profile.Knobs, e.profile.LeftOut = maps.Clone(e.profile.Knobs), maps.Clone(e.profile.LeftOut)
	return nil
}

// learnSettings puts the broker's session floor into the profile. A broker that does not
// tell it keeps the one of the profile.
func (e *engine) learnSettings(ctx context.Context, node int32) error {
	resource := &sarama.ConfigResource{Type: sarama.BrokerResource, Name: strconv.Itoa(int(node)), ConfigNames: brokerSettings}
	found, err := ask(ctx, func() ([]*sarama.ConfigResourceResult, error) {
		return e.admin.DescribeConfigs([]*sarama.ConfigResource{resource}, sarama.DescribeConfigsOptions{})
	})
	if err != nil {
		return e.openError("read the broker's settings", err)
	}
	for _, result := range found {
		for _, entry := range result.Configs {
			e.tells["broker."+entry.Name] = entry.Value
		}
	}
	e.minSession = e.profile.Session.Floor
	if told, err := strconv.Atoi(e.tells["broker."+minSession]); err == nil {
		e.minSession = time.Duration(told) * time.Millisecond
	}
	e.adjust(&e.profile)
	return nil
}

// stableSession is the shortest session that is used where nobody asks for one: a busy
// machine pauses a process for long enough to end a shorter one by itself.
const stableSession = time.Second

// brokerSettings are what a report shows of the broker.
var brokerSettings = []string{
	minSession, "group.max.session.timeout.ms", "group.initial.rebalance.delay.ms", "offsets.retention.minutes",
	"log.retention.ms", "log.retention.hours", "message.max.bytes", "min.insync.replicas", "default.replication.factor",
	"log.message.timestamp.type", "unclean.leader.election.enable", "auto.create.topics.enable",
}

// adjust makes the profile say what this adapter does where its own choices decide.
func (e *engine) adjust(p *contract.Profile) {
	p.Can = p.Can.With(contract.Purge, contract.Transactions)
	delete(p.LeftOut, "transactions")
	p.Session.Floor = max(e.minSession, stableSession)
	p.Session.Default = max(p.Session.Default, p.Session.Floor)
	knobs := map[string]string{
		profiles.MaxWait:           maxWait.String(),
		profiles.ClientBuffer:      strconv.Itoa(channelBuffer),
		profiles.BufferedAfterLoss: "0",    // Receive drops what a lost partition had
		profiles.RevokesAtOnce:     "true", // a claim waits for nobody's handler
		profiles.SharedBuffer:      "true",
		profiles.RebalanceTimeout:  rebalanceTimeout(p.Session.Floor).String(),
		profiles.Heartbeat:         heartbeat(p.Session.Floor).String(),
	}
	if p.Knobs == nil {
		p.Knobs = map[string]string{}
	}
	maps.Copy(p.Knobs, knobs)
}

func (e *engine) openError(tried string, err error) error {
	return fmt.Errorf("kafka: %s: %s: %w", strings.Join(e.config.Addresses, ","), tried, closedDoor(err))
}
