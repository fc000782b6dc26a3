// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-720a3c77/harness/broker"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/internal/testenv"
	"github.com/seed-720a3c77/harness/msg"
)

const (
	testRun  = 77
	patience = 30 * time.Second
	// steady is a session that no busy machine ends by itself: a member that stands still for
	// longer loses its partitions, and its seeks with them.
	steady = 15 * time.Second
)

// rig is an engine on the real broker with topics of its own.
type rig struct {
	*engine
	t    *testing.T
	ctx  context.Context
	name string
	seq  map[string]uint64
}

func newRig(t *testing.T) *rig { return newRigWith(t, nil) }

func newRigWith(t *testing.T, dial Dial) *rig {
	t.Helper()
	address := testenv.Broker(t, "kafka")
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	t.Cleanup(cancel)
	e, err := Open(ctx, Config{Addresses: strings.Split(address, ","), Dial: dial})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{engine: e.(*engine), t: t, ctx: ctx, name: "kt-" + rand.Text()[:10], seq: map[string]uint64{}}
	t.Cleanup(func() { r.must(r.Close(ctx), "close the engine") })
	return r
}

func (r *rig) must(err error, what string) {
	r.t.Helper()
	if err != nil {
		r.t.Fatalf("%s: %v", what, err)
	}
}

// topic makes a topic that is removed at the end.
func (r *rig) topic(partitions int, native map[string]string) string {
	r.t.Helper()
	name := fmt.Sprintf("%s-%d", r.name, len(r.seq))
	r.seq[name] = 0
	d := broker.Destination{Name: name, Partitions: partitions, Native: native}
	r.must(r.Declare(r.ctx, broker.Topology{Destinations: []broker.Destination{d}}), "declare")
	r.t.Cleanup(func() { r.must(r.Remove(r.ctx, name), "remove") })
	return name
}

func (r *rig) producer(spec broker.ProducerSpec) broker.Producer {
	r.t.Helper()
	spec.Name, spec.Run = "p", testRun
	p, err := r.Producer(r.ctx, spec)
	r.must(err, "producer")
	r.t.Cleanup(p.Abandon)
	return p
}

// message is the next one for a topic.
func (r *rig) message(to string, partition int32) *msg.Message {
	m := &msg.Message{To: to, ID: msg.ID{Seq: r.seq[to]}, Attempt: 1, Partition: partition, Body: []byte("x")}
	r.seq[to]++
	return m
}

type answer struct {
	receipt broker.Receipt
	err     error
}

// publish waits for the answer of one message.
func (r *rig) publish(p broker.Producer, m *msg.Message) answer {
	r.t.Helper()
	got := make(chan answer, 1)
	err := p.Publish(r.ctx, m, func(receipt broker.Receipt, err error) { got <- answer{receipt, err} })
	if err != nil {
		return answer{err: err}
	}
	select {
	case a := <-got:
		return a
	case <-time.After(patience):
		r.t.Fatal("no completion")
	}
	panic("not reached")
}

// load stores n messages in each partition.
func (r *rig) load(to string, partitions int32, n int) {
	r.t.Helper()
	p := r.producer(broker.ProducerSpec{})
	for range n {
		for partition := range partitions {
			r.must(r.publish(p, r.message(to, partition)).err, "publish")
		}
	}
	r.must(p.Close(r.ctx), "close")
}

// member is a consumer and what it was told.
type member struct {
	broker.Consumer
	r    *rig
	spec broker.ConsumerSpec

	mu      sync.Mutex
	notices []broker.Notice
}

func (r *rig) consumer(spec broker.ConsumerSpec) *member {
	r.t.Helper()
	m := &member{r: r, spec: spec}
	spec.Run, spec.Notify = testRun, m.hear
	if spec.Name == "" {
		spec.Name = "c"
	}
	if spec.Group != "" && spec.Session == 0 {
		spec.Session = steady
	}
	c, err := r.Consumer(r.ctx, spec)
	r.must(err, "consumer")
	r.t.Cleanup(c.Abandon)
	m.Consumer = c
	return m
}

// join is a consumer of a group that holds partitions already.
func (r *rig) join(spec broker.ConsumerSpec) *member {
	r.t.Helper()
	if spec.Group == "" {
		spec.Group = spec.From + "-g"
	}
	if spec.Batch == 0 {
		spec.Batch = 100
	}
	m := r.consumer(spec)
	r.until("the member holds something", func() bool { return len(m.holds()) > 0 })
	return m
}

func (m *member) hear(n broker.Notice) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.notices = append(m.notices, n)
}

// told are all notices so far.
func (m *member) told() []broker.Notice {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.notices)
}

func (m *member) heard(kind broker.NoticeKind) (found []broker.Notice) {
	for _, n := range m.told() {
		if n.Kind == kind {
			found = append(found, n)
		}
	}
	return found
}

// holds lists the partitions that the member was last told it has.
func (m *member) holds() []int32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	var held []int32
	for _, n := range m.notices {
		switch n.Kind {
		case broker.Assigned:
			held = append(held, n.Partition)
		case broker.Revoked, broker.Lost:
			held = slices.DeleteFunc(held, func(p int32) bool { return p == n.Partition })
		}
	}
	slices.Sort(held)
	return held
}

// take receives exactly n.
func (m *member) take(n int) []broker.Delivery {
	m.r.t.Helper()
	var all []broker.Delivery
	into := make([]broker.Delivery, n)
	for end := time.Now().Add(patience); len(all) < n; {
		got, err := m.Receive(m.r.ctx, into[:n-len(all)], 100*time.Millisecond)
		m.r.must(err, "receive")
		all = append(all, into[:got]...)
		if time.Now().After(end) {
			m.r.t.Fatalf("received %d of %d; told %+v", len(all), n, m.told())
		}
	}
	return all
}

// some is what one poll brings.
func (m *member) some() []broker.Delivery {
	m.r.t.Helper()
	into := make([]broker.Delivery, 10)
	n, err := m.Receive(m.r.ctx, into, 100*time.Millisecond)
	m.r.must(err, "receive")
	return into[:n]
}

// none wants nothing for a while.
func (m *member) none() {
	m.r.t.Helper()
	got, err := m.Receive(m.r.ctx, make([]broker.Delivery, 1), 500*time.Millisecond)
	m.r.must(err, "receive")
	if got != 0 {
		m.r.t.Fatal("received something, want nothing")
	}
}

func (m *member) settle(verb broker.Verb, d broker.Delivery) error {
	results := make([]error, 1)
	m.Settle(m.r.ctx, []broker.Settlement{{Verb: verb, Token: d.Token}}, results)
	return results[0]
}

func offsetsOf(all []broker.Delivery) []int64 {
	offsets := make([]int64, len(all))
	for i, d := range all {
		offsets[i] = d.Token.Offset
	}
	return offsets
}

func (r *rig) wantOffsets(what string, all []broker.Delivery, want ...int64) {
	r.t.Helper()
	if got := offsetsOf(all); !slices.Equal(got, want) {
		r.t.Errorf("%s: offsets %v, want %v", what, got, want)
	}
}

func (r *rig) wantClass(what string, err error, answer contract.Answer, class contract.Class) {
	r.t.Helper()
	a, c := broker.Classify(err, contract.OK)
	if a != answer || c != class {
		r.t.Errorf("%s: %v (%v), want %v (%v): %v", what, a, c, answer, class, err)
	}
}

// committedSum is the sum of a group's positions.
func (r *rig) committedSum(topic, group string) int64 {
	r.t.Helper()
	d, err := r.Depth(r.ctx, topic, group)
	r.must(err, "depth")
	return d.Committed
}

// members is how many members the broker counts in a group.
func (r *rig) members(group string) int {
	r.t.Helper()
	found, err := r.admin.DescribeConsumerGroups([]string{group})
	r.must(err, "describe the group")
	return len(found[0].Members)
}

func (r *rig) until(what string, holds func() bool) {
	r.t.Helper()
	for end := time.Now().Add(patience); !holds(); {
		if time.Now().After(end) {
			r.t.Fatalf("not within %v: %s", patience, what)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
