// SPDX-License-Identifier: Apache-2.0

package checkers

import (
	"math/bits"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/history"
)

const (
	// maxColumns is how many columns a timeline has at most.
	maxColumns = 300
	// firstStep is the width that columns begin with; it doubles when there are too many.
	firstStep = int64(1_000_000)
	// fullColumn is how many events a column should hold on average.
	fullColumn = 50
	// fewColumns are never merged further for being empty.
	fewColumns = 30
)

// column is what happened in one stretch of time. Counts are summed when two are merged,
// gauges keep their maximum.
type column struct {
	published, acked, received, handled, errors int64
	again                                       *byCause // extra deliveries, nil while there is none
	lag, ready, held, age                       int64    // -1 not measured
	latency                                     *buckets // nil while there is no sample
}

type byCause [causes]int64

// timeline gathers series over time in one pass without knowing how long the run is.
type timeline struct {
	c       *Case
	step    int64
	columns []column
	// the column of the latest instant, and its bounds
	latest   *column
	from, to int64
}

func (t *timeline) Kinds() history.KindSet {
	kinds := history.Only(history.PublishStart, history.PublishAnswer, history.Delivery, history.HandlerEnd,
		history.SettleAnswer, history.DepthQueue, history.DepthLog, history.Receive, history.CallOverrun, history.Drained)
	if t.c.hasOpaque() {
		kinds |= history.Only(history.EffectResult)
	}
	return kinds
}

func (t *timeline) Begin(c *Case) {
	t.c, t.step, t.columns = c, firstStep, c.memory.columns[:0]
}

// at is the column of an instant.
func (t *timeline) at(ns int64) *column {
	i := max(ns, 0) / t.step
	for i >= maxColumns {
		t.halve()
		i = max(ns, 0) / t.step
	}
	for int64(len(t.columns)) <= i {
		t.columns = append(t.columns, column{lag: never, ready: never, held: never, age: never})
	}
	return &t.columns[i]
}

// now is the column of an instant that is mostly that of the event before.
func (t *timeline) now(ns int64) *column {
	if ns < t.from || ns >= t.to {
		t.latest = t.at(ns)
		t.from = ns - max(ns, 0)%t.step
		t.to = t.from + t.step
	}
	return t.latest
}

// halve doubles the width of the columns.
func (t *timeline) halve() {
	t.step *= 2
	half := t.columns[:0]
	for i := 0; i < len(t.columns); i += 2 {
		c := t.columns[i]
		if i+1 < len(t.columns) {
			c.merge(&t.columns[i+1])
		}
		half = append(half, c)
	}
	t.columns = half
	t.from, t.to = 0, 0
}

func (c *column) merge(other *column) {
	c.published += other.published
	c.acked += other.acked
	c.received += other.received
	c.handled += other.handled
	c.errors += other.errors
	switch {
	case c.again == nil:
		c.again = other.again
	case other.again != nil:
		for i := range c.again {
			c.again[i] += other.again[i]
		}
	}
	c.lag, c.ready, c.held, c.age = max(c.lag, other.lag), max(c.ready, other.ready), max(c.held, other.held), max(c.age, other.age)
	switch {
	case c.latency == nil:
		c.latency = other.latency
	case other.latency != nil:
		c.latency.merge(other.latency)
	}
}

func (t *timeline) Observe(m *Moment) {
	c := t.now(m.T)
	switch m.Kind {
	case history.PublishStart:
		c.published++
	case history.PublishAnswer:
		if m.Class == contract.OK {
			c.acked++
		} else if m.Class != contract.AcceptedOnly {
			c.errors++
		}
	case history.Delivery:
		t.delivery(c, m)
	case history.HandlerEnd:
		t.handled(c, m)
	case history.EffectResult:
		if m.opaque() && effectsAfter(m.message.effects, m.Event) > m.message.effects {
			c.handled++
		}
	case history.SettleAnswer:
		if m.Class == contract.Rejected || m.Class == contract.Unknown {
			c.errors++
		}
	case history.Receive:
		if m.Class == contract.Unknown {
			c.errors++
		}
	case history.CallOverrun:
		c.errors++
	case history.DepthQueue:
		c.ready = max(c.ready, int64(m.Seq))
		c.age = max(c.age, t.c.oldest())
	case history.DepthLog:
		c.ready = max(c.ready, m.Off-int64(m.Seq))
		c.age = max(c.age, t.c.oldest())
	}
	c.lag = max(c.lag, t.c.flow.open)
}

func (t *timeline) delivery(c *column, m *Moment) {
	if !m.known || m.place.role == deadLetter {
		return
	}
	c.received++
	c.held = max(c.held, m.session.held+1)
	if m.extra {
		c.repeated(m.cause)
	}
}

// handled counts a handler that ended well; the latency column is that of the instant at
// which the message was due.
func (t *timeline) handled(c *column, m *Moment) {
	if m.Has(history.Failed) {
		c.errors++
		return
	}
	c.handled++
	if m.hold == nil || m.message.done > 0 || m.hold.due < t.c.ends.loadAt {
		return
	}
	if !t.c.brief {
		t.at(m.hold.due).sample(m.T - m.hold.due)
	}
}

func (c *column) repeated(cause Cause) {
	if c.again == nil {
		c.again = new(byCause)
	}
	c.again[cause]++
}

func (c *column) sample(ns int64) {
	if c.latency == nil {
		c.latency = new(buckets)
	}
	c.latency.record(ns)
}

// buckets is a coarse histogram: four buckets an octave, exact maximum.
type buckets struct {
	counts   [256]uint32
	max, sum int64
}

func (b *buckets) record(ns int64) {
	ns = max(ns, 0)
	b.counts[bucketOf(ns)]++
	b.max = max(b.max, ns)
	b.sum++
}

func bucketOf(ns int64) int {
	if ns < 4 {
		return int(ns)
	}
	octave := bits.Len64(uint64(ns)) - 1
	return octave*4 + int(ns>>(octave-2))&3
}

// top is the largest value of a bucket.
func top(bucket int) int64 {
	if bucket < 8 {
		return int64(bucket)
	}
	octave, part := bucket/4, int64(bucket%4)
	return (part+5)<<(octave-2) - 1
}

func (b *buckets) merge(other *buckets) {
	for i := range b.counts {
		b.counts[i] += other.counts[i]
	}
	b.max = max(b.max, other.max)
	b.sum += other.sum
}

// quantile is an upper bound of a quantile, at most the maximum.
func (b *buckets) quantile(share float64) int64 {
	rank := int64(share*float64(b.sum) + 0.999999)
	for i, n := range b.counts {
		if rank -= int64(n); rank <= 0 {
			return min(top(i), b.max)
		}
	}
	return b.max
}

func (t *timeline) Finish(f *Facts) {
	events := int64(0)
	for i := range t.columns {
		c := &t.columns[i]
		events += c.published + c.acked + c.received + c.handled
	}
	for len(t.columns) > fewColumns && events < fullColumn*int64(len(t.columns)) {
		t.halve()
	}
	t.recoveries()
	t.c.memory.columns = t.columns
	if t.c.brief {
		return
	}
	f.result.Timeline = Timeline{StepNs: t.step, Series: t.series()}
}

func (t *timeline) series() []Series {
	all := []Series{
		t.rate("published", func(c *column) int64 { return c.published }),
		t.rate("acked", func(c *column) int64 { return c.acked }),
		t.rate("received", func(c *column) int64 { return c.received }),
		t.rate("handled", func(c *column) int64 { return c.handled }),
		t.gauge("lag", "open", "msgs", func(c *column) int64 { return c.lag }),
		t.gauge("lag", "ready", "msgs", func(c *column) int64 { return c.ready }),
		t.gauge("lag", "held", "msgs", func(c *column) int64 { return c.held }),
		t.gauge("age", "oldest", "ns", func(c *column) int64 { return c.age }),
		t.gauge("latency", "p50", "ns", func(c *column) int64 { return c.latencyAt(0.5) }),
		t.gauge("latency", "p99", "ns", func(c *column) int64 { return c.latencyAt(0.99) }),
		t.gauge("latency", "max", "ns", func(c *column) int64 { return c.latencyAt(1) }),
	}
	for cause := noCause + 1; cause < causes; cause++ {
		if s := t.counts("duplicates", cause.String(), func(c *column) int64 { return c.againBy(cause) }); s.Total > 0 {
			all = append(all, s)
		}
	}
	return append(all, t.counts("errors", "errors", func(c *column) int64 { return c.errors }))
}

func (c *column) againBy(cause Cause) int64 {
	if c.again == nil {
		return 0
	}
	return c.again[cause]
}

func (c *column) latencyAt(share float64) int64 {
	if c.latency == nil {
		return never
	}
	return c.latency.quantile(share)
}

func (t *timeline) rate(name string, of func(*column) int64) Series {
	s := Series{Panel: "rates", Name: name, Unit: "msgs/s"}
	for i := range t.columns {
		n := of(&t.columns[i])
		s.Total += n
		perSecond := n * 1_000_000_000 / t.step
		s.Values = append(s.Values, &perSecond)
	}
	return s
}

func (t *timeline) counts(panel, name string, of func(*column) int64) Series {
	s := Series{Panel: panel, Name: name, Unit: "msgs"}
	for i := range t.columns {
		n := of(&t.columns[i])
		s.Total += n
		s.Values = append(s.Values, &n)
	}
	return s
}

// gauge leaves out what was not measured.
func (t *timeline) gauge(panel, name, unit string, of func(*column) int64) Series {
	s := Series{Panel: panel, Name: name, Unit: unit}
	for i := range t.columns {
		var value *int64
		if n := of(&t.columns[i]); n != never {
			value = &n
		}
		s.Values = append(s.Values, value)
	}
	return s
}
