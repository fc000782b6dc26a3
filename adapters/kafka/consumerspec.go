// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/IBM/sarama"

	"github.com/seed-720a3c77/harness/broker"
)

// heartbeat is how often a member of this session timeout shows life: at least three
// times, and often enough to notice a rebalance soon.
func heartbeat(session time.Duration) time.Duration {
	return max(min(session/3, 300*time.Millisecond).Truncate(time.Millisecond), time.Millisecond)
}

// rebalanceTimeout is how long a rebalance waits for a member to rejoin. A member of this
// adapter rejoins at once; one that is gone is waited for as long as its session.
func rebalanceTimeout(session time.Duration) time.Duration { return max(session, 5*time.Second) }

// refusedConsumer is what cannot be had, in one clear line.
func (e *engine) refusedConsumer(spec broker.ConsumerSpec) error {
	switch {
	case spec.From == "":
		return fmt.Errorf("a destination to read from is wanted")
	case spec.AutoAck:
		return fmt.Errorf("auto ack: %w; a log forgets nothing", broker.ErrUnsupported)
	case spec.Exclusive:
		return fmt.Errorf("an exclusive consumer: %w; give the topic one partition", broker.ErrUnsupported)
	case spec.Batch < 0 || spec.Prefetch < 0 || spec.AutoCommit < 0 || spec.Session < 0:
		return fmt.Errorf("batch, prefetch, auto-commit and session cannot be negative")
	case spec.Group == "" && (spec.AutoCommit > 0 || spec.StaticID != "" || spec.Strategy != ""):
		return fmt.Errorf("auto-commit, static membership and a strategy need a group")
	case spec.Session < e.minSession:
		return fmt.Errorf("session %v is below the broker's %s of %v", spec.Session, minSession, e.minSession)
	case spec.Start != broker.Earliest && spec.Start != broker.Latest:
		return fmt.Errorf("start %q: want nothing (earliest) or latest", spec.Start)
	case spec.Isolation != "" && spec.Isolation != "uncommitted":
		return fmt.Errorf("isolation %q: want nothing (committed) or uncommitted", spec.Isolation)
	}
	return nil
}

// consumerSettings maps a specification to the client's settings, none left to chance.
func (e *engine) consumerSettings(spec broker.ConsumerSpec, c *consumer) (*sarama.Config, error) {
	if err := e.refusedConsumer(spec); err != nil {
		return nil, err
	}
	strategy, err := strategyOf(spec.Strategy, c.reassigned)
	if err != nil {
		return nil, err
	}
	s := e.settings(spec.Name, c.sockets)
	s.Net.MaxOpenRequests = openRequests
	in := &s.Consumer
	in.Return.Errors = true
	in.MaxWaitTime = maxWait
	in.MaxProcessingTime = 100 * time.Millisecond
	in.Retry.Backoff = retryBackoff
	in.Fetch.Min, in.Fetch.Default = 1, 1<<20
	in.Offsets.Initial = initial(spec.Start)
	in.Offsets.AutoCommit.Enable = spec.AutoCommit > 0
	if spec.AutoCommit > 0 {
		in.Offsets.AutoCommit.Interval = spec.AutoCommit
	}
	in.IsolationLevel = sarama.ReadCommitted
	if spec.Isolation == "uncommitted" {
		in.IsolationLevel = sarama.ReadUncommitted
	}
	in.Group.InstanceId = spec.StaticID
	in.Group.ResetInvalidOffsets = true
	in.Group.Session.Timeout = spec.Session
	in.Group.Heartbeat.Interval = heartbeat(spec.Session)
	in.Group.Rebalance.Timeout = rebalanceTimeout(spec.Session)
	in.Group.Rebalance.Retry.Max = 50
	in.Group.Rebalance.Retry.Backoff = retryBackoff
	in.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{strategy}
	return s, nil
}

func initial(start broker.Start) int64 {
	if start == broker.Latest {
		return sarama.OffsetNewest
	}
	return sarama.OffsetOldest
}

// consumerTells are a consumer's settings in effect.
func consumerTells(s *sarama.Config, prefetch int) map[string]string {
	in := s.Consumer
	auto := "off"
	if in.Offsets.AutoCommit.Enable {
		auto = in.Offsets.AutoCommit.Interval.String()
	}
	return map[string]string{
		"consumer.MaxWaitTime":               in.MaxWaitTime.String(),
		"consumer.MaxProcessingTime":         in.MaxProcessingTime.String(),
		"consumer.Fetch.Default":             strconv.Itoa(int(in.Fetch.Default)),
		"consumer.Offsets.Initial":           map[int64]string{sarama.OffsetNewest: "latest", sarama.OffsetOldest: "earliest"}[in.Offsets.Initial],
		"consumer.Offsets.AutoCommit":        auto,
		"consumer.IsolationLevel":            map[sarama.IsolationLevel]string{sarama.ReadCommitted: "committed", sarama.ReadUncommitted: "uncommitted"}[in.IsolationLevel],
		"consumer.Group.InstanceId":          in.Group.InstanceId,
		"consumer.Group.Session.Timeout":     in.Group.Session.Timeout.String(),
		"consumer.Group.Heartbeat.Interval":  in.Group.Heartbeat.Interval.String(),
		"consumer.Group.Rebalance.Timeout":   in.Group.Rebalance.Timeout.String(),
		"consumer.Group.Rebalance.Strategy":  in.Group.Rebalance.GroupStrategies[0].Name(),
		"consumer.Group.ResetInvalidOffsets": strconv.FormatBool(in.Group.ResetInvalidOffsets),
		"consumer.ChannelBufferSize":         strconv.Itoa(s.ChannelBufferSize),
		"consumer.prefetch":                  strconv.Itoa(prefetch),
		"consumer.Version":                   s.Version.String(),
	}
}

// strategyOf returns an assignment strategy. told hears of each assignment of a
// cooperative one.
func strategyOf(name string, told func([]int32)) (sarama.BalanceStrategy, error) {
	switch name {
	case "", sarama.RangeBalanceStrategyName:
		return sarama.NewBalanceStrategyRange(), nil
	case sarama.RoundRobinBalanceStrategyName:
		return sarama.NewBalanceStrategyRoundRobin(), nil
	case sarama.StickyBalanceStrategyName:
		return sarama.NewBalanceStrategySticky(), nil
	case sarama.CooperativeStickyBalanceStrategyName:
		return watch(sarama.NewBalanceStrategyCooperativeSticky(), told), nil
	}
	known := []string{sarama.RangeBalanceStrategyName, sarama.RoundRobinBalanceStrategyName,
		sarama.StickyBalanceStrategyName, sarama.CooperativeStickyBalanceStrategyName}
	return nil, fmt.Errorf("strategy %q: want %s", name, strings.Join(known, ", "))
}
