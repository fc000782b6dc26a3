// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"slices"
	"strings"
)

// judgeSession is the kind "session": what one consumer session may rely on, by the
// guarantees of etcd's watches. Each entry of h has batches of [position, key] or
// ["bookmark", position], and the position that it asked to start from, if any; log is
// what is persisted. broken lists the guarantees that do not hold, first the one that the
// source reports.
func judgeSession(c *Case, rules Rules) (Figures, error) {
	var sessions []struct {
		Start   *float64 `json:"start"`
		Batches []row    `json:"batches"`
	}
	if err := c.field("h", &sessions); err != nil {
		return nil, err
	}
	var log []row
	if err := c.field("log", &log); err != nil {
		return nil, err
	}
	_, persisted := c.fields["log"]
	v := view{log: log, persisted: persisted, unique: c.asksForUnique(), broken: map[string]bool{}}
	for _, s := range sessions {
		v.start = s.Start
		v.read(s.Batches)
		v.judge()
	}
	broken, first := v.broke(rules)
	return Figures{"broken": broken, "first": first, "valid": first == nil}, nil
}

// broke lists what is broken. A bookmark behind an event that came before it contradicts
// the events too, and whether that breaks their reliability as well is a matter of taste.
func (v *view) broke(rules Rules) (ways either, first any) {
	broken, less := []any{}, []any{}
	for _, name := range guarantees {
		if !v.broken[name] || !rules.has("session:"+name) {
			continue
		}
		broken = append(broken, name)
		if name != "reliable" || v.dropped {
			less = append(less, name)
		}
		if first == nil {
			first = name
		}
	}
	return either{broken, less}, first
}

// guarantees in the order in which the source checks them.
var guarantees = []string{"ordered", "unique", "atomic", "bookmarkable", "resumable", "reliable"}

// asksForUnique tells whether a position may come once only, whatever its key.
func (c *Case) asksForUnique() bool {
	var opt map[string]any
	_ = c.field("opt", &opt) // none is fine
	for name, value := range opt {
		if strings.Contains(name, "unique") && value == true {
			return true
		}
	}
	for name, raw := range c.fields {
		if strings.Contains(name, "unique") && string(raw) == "true" {
			return true
		}
	}
	return false
}

// view is one session as it was seen.
type view struct {
	log       []row
	persisted bool
	unique    bool
	start     *float64
	answers   []answer
	broken    map[string]bool
	dropped   bool // an event is missing, not only one too many
}

// answer is one answer: events, or a bookmark.
type answer struct {
	events   []row
	bookmark bool
	position float64
}

func (v *view) read(batches []row) {
	v.answers = nil
	for _, b := range batches {
		if b.text(0) == "bookmark" {
			v.answers = append(v.answers, answer{bookmark: true, position: b.number(1)})
			continue
		}
		var a answer
		for i := range b {
			a.events = append(a.events, b.list(i))
		}
		v.answers = append(v.answers, a)
	}
}

func (v *view) judge() {
	v.steps()
	v.bookmarks()
	if v.persisted {
		v.reliable()
		v.resumable()
	}
}

// steps finds events that go back, come twice, or share a position with the answer before.
func (v *view) steps() {
	last, lastAnswer := 1.0, 1.0
	seen := map[string]bool{}
	for _, a := range v.answers {
		if len(a.events) == 0 {
			continue
		}
		if a.events[0].number(0) == lastAnswer {
			v.broken["atomic"] = true
		}
		for _, e := range a.events {
			name := word(e.at(0))
			if !v.unique {
				name += "\x00" + word(e.at(1))
			}
			v.broken["ordered"] = v.broken["ordered"] || e.number(0) < last
			v.broken["unique"] = v.broken["unique"] || seen[name]
			seen[name] = true
			last = e.number(0)
		}
		lastAnswer = last
	}
}

// bookmarks finds events at or before a bookmark that came first, and bookmarks that go
// back.
func (v *view) bookmarks() {
	mark, last := 0.0, 0.0
	for _, a := range v.answers {
		for _, e := range a.events {
			v.broken["bookmarkable"] = v.broken["bookmarkable"] || e.number(0) <= mark
			last = e.number(0)
		}
		if a.bookmark {
			v.broken["bookmarkable"] = v.broken["bookmarkable"] || a.position < mark || a.position < last
			mark = a.position
		}
	}
}

// reliable wants every persisted event between the session's first and last position.
func (v *view) reliable() {
	from, to := v.first(), v.last()
	var want, got []string
	for _, e := range v.log {
		if from != 0 && e.number(0) >= from && e.number(0) <= to {
			want = append(want, word(e.at(0))+"\x00"+word(e.at(1)))
		}
	}
	for _, a := range v.answers {
		for _, e := range a.events {
			got = append(got, word(e.at(0))+"\x00"+word(e.at(1)))
		}
	}
	v.broken["reliable"] = v.broken["reliable"] || !slices.Equal(want, got)
	v.dropped = v.dropped || len(got) < len(want) || !slices.Equal(want, got[:len(want)])
}

// first is the position from which the session must see everything; 0 is none.
func (v *view) first() float64 {
	switch {
	case v.start != nil && *v.start != 0:
		return *v.start
	case len(v.answers) == 0:
		return 0
	case v.answers[0].bookmark:
		return v.answers[0].position + 1
	case len(v.answers[0].events) > 0:
		return v.answers[0].events[0].number(0)
	}
	return 0
}

func (v *view) last() float64 {
	for _, a := range slices.Backward(v.answers) {
		if a.bookmark {
			return a.position
		}
		if n := len(a.events); n > 0 {
			return a.events[n-1].number(0)
		}
	}
	return 0
}

// resumable wants the first event to be the first that is persisted from the start on.
func (v *view) resumable() {
	if v.start == nil || *v.start == 0 {
		return
	}
	i := slices.IndexFunc(v.log, func(e row) bool { return e.number(0) >= *v.start })
	if i < 0 {
		return
	}
	for _, a := range v.answers {
		if len(a.events) > 0 {
			e := a.events[0]
			v.broken["resumable"] = v.broken["resumable"] || word(e.at(0)) != word(v.log[i].at(0)) || word(e.at(1)) != word(v.log[i].at(1))
			return
		}
	}
}
