// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/seed-720a3c77/harness/internal/suggest"
)

// Alarm makes a node of RabbitMQ believe that its memory or disk has run out. It stops
// reading from every connection that publishes: nothing is refused, publishes wait, and
// consumers go on. On brokers that the harness started; on the in-memory engine the ways of
// all producers to the broker are held, which is the same to them. Confirmed by the node's
// status naming the alarm; it heals by putting the limit back that was there before, and
// the status naming it no more. https://www.rabbitmq.com/docs/alarms
func Alarm() Kind {
	return Kind{
		Name: "alarm", Doc: "raises RabbitMQ's memory or disk alarm, which blocks publishers; confirmed by the node's status; heals by putting the limit back",
		Aim: AtNode, NeedsEnd: true, Unable: needsAlarm,
		ByHand: "rabbitmqctl set_vm_memory_high_watermark 0.4 and rabbitmqctl set_disk_free_limit 50MB, or " + brokerByHand,
		New: func(target string, decode func(any) error) (Fault, error) {
			says := struct {
				Resource string `yaml:"resource,omitempty"`
			}{Resource: memoryAlarm}
			if err := decode(&says); err != nil {
				return nil, err
			}
			if all := []string{memoryAlarm, diskAlarm}; !slices.Contains(all, says.Resource) {
				return nil, errors.New(suggest.Unknown("resource", says.Resource, all))
			}
			return alarm{target, says.Resource}, nil
		},
	}
}

// The resources, as RabbitMQ calls them.
const (
	memoryAlarm = "memory"
	diskAlarm   = "disk"
)

func needsAlarm(p Place) string {
	switch {
	case p.Profile.Product != "rabbitmq":
		return "only RabbitMQ blocks its publishers when memory or disk runs out"
	case p.Virtual:
		return ""
	}
	return needsNode(p)
}

type alarm struct{ target, resource string }

func (f alarm) Inject(ctx context.Context, at Targets) (Heal, error) {
	node, err := at.Node(f.target)
	if errors.Is(err, ErrNoTarget) { // the model has producers and no node
		return brokenLink{AllProducers, holdUp}.Inject(ctx, at)
	}
	if err != nil {
		return nil, err
	}
	before, err := statusOf(ctx, node)
	if err != nil {
		return nil, err
	}
	heal := func(ctx context.Context) error { return f.set(ctx, node, f.limit(before), false) }
	if err := f.set(ctx, node, f.exceeded(), true); err != nil {
		return heal, err
	}
	return heal, nil
}

func holdUp(ctx context.Context, link Link) (func(context.Context) error, error) {
	return link.Hold(ctx, Up)
}

// exceeded is a limit that every node is beyond.
func (f alarm) exceeded() []string {
	if f.resource == diskAlarm {
		return []string{"set_disk_free_limit", "1000000GB"}
	}
	return []string{"set_vm_memory_high_watermark", "absolute", "1"}
}

// limit puts back what a status tells.
func (f alarm) limit(s *rabbitStatus) []string {
	switch {
	case f.resource == diskAlarm:
		return []string{"set_disk_free_limit", strconv.FormatInt(s.DiskFree, 10)}
	case s.Memory.Absolute > 0:
		return []string{"set_vm_memory_high_watermark", "absolute", strconv.FormatInt(s.Memory.Absolute, 10)}
	}
	return []string{"set_vm_memory_high_watermark", strconv.FormatFloat(s.Memory.Relative, 'f', -1, 64)}
}

// looks is how often a node is asked whether a new limit has had its effect; a look takes
// about a second.
const looks = 10

// set sets a limit and waits until the alarm is there, or is not.
func (f alarm) set(ctx context.Context, node Node, limit []string, raised bool) error {
	if _, err := node.Control(ctx, limit...); err != nil {
		return fmt.Errorf("%s alarm: %w", f.resource, err)
	}
	for range looks {
		s, err := statusOf(ctx, node)
		if err != nil {
			return err
		}
		if s.alarmed(f.resource) == raised {
			return nil
		}
	}
	if raised {
		return fmt.Errorf("%s alarm of %s: %w", f.resource, node.Name(), ErrNotActive)
	}
	return fmt.Errorf("the %s alarm of %s does not end", f.resource, node.Name())
}

// rabbitStatus is what is used of rabbitmqctl status.
type rabbitStatus struct {
	Alarms []struct {
		Resource string `json:"resource"`
	} `json:"alarms"`
	Memory struct {
		Absolute int64   `json:"absolute"`
		Relative float64 `json:"relative"`
	} `json:"vm_memory_high_watermark_setting"`
	DiskFree int64 `json:"disk_free_limit"`
}

func statusOf(ctx context.Context, node Node) (*rabbitStatus, error) {
	text, err := node.Control(ctx, "status", "--formatter", "json")
	if err != nil {
		return nil, fmt.Errorf("status of %s: %w", node.Name(), err)
	}
	s := new(rabbitStatus)
	if err := json.Unmarshal([]byte(text), s); err != nil {
		return nil, fmt.Errorf("status of %s: %w", node.Name(), err)
	}
	return s, nil
}

func (s *rabbitStatus) alarmed(resource string) bool {
	for _, a := range s.Alarms {
		if a.Resource == resource {
			return true
		}
	}
	return false
}
