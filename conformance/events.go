// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"slices"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/contract/profiles"
	"github.com/seed-720a3c77/harness/history"
	"github.com/seed-720a3c77/harness/msg"
)

// judgeEvents is the kind "events": a native history of one destination q and its
// subscription g. Rows are [time in ns, kind, {field: value}] with the fields of an event
// by their columns' names and id, session, place, key and text as texts; conf has the
// profile, the mode of effect, claims, and whether the consumer is opaque. rows lists the
// ids of every anomaly.
func judgeEvents(c *Case, rules Rules) (Figures, error) {
	rows, err := c.rows()
	if err != nil {
		return nil, err
	}
	h, err := c.eventsHeader()
	if err != nil {
		return nil, err
	}
	t, err := begin(h)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		if err := t.event(r); err != nil {
			return nil, err
		}
	}
	found, result, err := rules.find(t)
	if err != nil {
		return nil, err
	}
	all := map[string]any{}
	for row, ids := range found {
		all[row] = ids
	}
	var broken []string
	for _, claim := range result.Claims {
		if claim.Verdict == contract.Violated {
			broken = append(broken, claim.Name)
		}
	}
	return Figures{"rows": all, "broken": broken, "counts": result.Counts}, nil
}

func (c *Case) eventsHeader() (history.Header, error) {
	var conf struct {
		Profile, Effect string
		Opaque          bool
		Claims          []contract.Claim
	}
	if err := c.field("conf", &conf); err != nil {
		return history.Header{}, err
	}
	p, err := profiles.Named(conf.Profile)
	if err != nil {
		return history.Header{}, err
	}
	h := queueHeader(c.ID, p)
	h.Claims = conf.Claims
	h.Subscriptions[0].Opaque = conf.Opaque
	if conf.Effect != "" {
		h.Subscriptions[0].Effect = conf.Effect
	}
	return h, nil
}

// event adds one event.
func (t *telling) event(r row) error {
	at, err := r.whole(0)
	if err != nil {
		return err
	}
	fields, is := r.at(2).(map[string]any)
	e := history.Event{Kind: kindNamed(r.text(1)), Off: -1}
	if e.Kind == history.NoKind || !is {
		return fmt.Errorf("%w: event %v", errShape, []any(r))
	}
	for name, value := range fields {
		if err := t.fill(&e, name, value); err != nil {
			return err
		}
	}
	t.at(at)
	t.add(e)
	return nil
}

func kindNamed(name string) history.Kind {
	for k := range history.Kinds {
		if k != history.NoKind && k.String() == name {
			return k
		}
	}
	return history.NoKind
}

// fill sets one field of an event.
func (t *telling) fill(e *history.Event, name string, value any) error {
	text, _ := value.(string)
	n, _ := value.(float64)
	switch name {
	case "id":
		id, err := msg.ParseID(text)
		e.Producer, e.Seq = id.Producer, id.Seq
		return err
	case "session":
		e.Session = t.recording.Intern(history.Sessions, text)
	case "place":
		e.Place = t.recording.Intern(history.Places, text)
	case "key":
		e.Key = t.key(text)
	case "text":
		e.Text = t.text(text)
	case "class":
		e.Class = classNamed(text)
	case "flags":
		e.Flags = flagsNamed(row{value}.list(0))
	case "op":
		e.Op = uint32(n)
	case "off":
		e.Off = int64(n)
	case "count":
		e.N = uint32(n)
	case "seq":
		e.Seq = uint64(n)
	case "until":
		e.Until = int64(n)
	case "verb":
		e.Verb = uint8(n)
	case "gen":
		e.Gen = uint32(n)
	default:
		return fmt.Errorf("%w: field %q", errShape, name)
	}
	return nil
}

func classNamed(text string) contract.Class {
	for c := contract.OK; c <= contract.AcceptedOnly; c++ {
		if c.String() == text {
			return c
		}
	}
	return contract.Unclassed
}

// flagWords are the flags of an event, from the lowest bit on.
var flagWords = []string{"redelivered", "corrupt", "foreign", "failed", "skipped", "refused", "crashed", "lost"}

func flagsNamed(names row) (flags history.Flag) {
	for i := range names {
		if bit := slices.Index(flagWords, names.text(i)); bit >= 0 {
			flags |= 1 << bit
		}
	}
	return flags
}
