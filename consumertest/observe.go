// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"maps"
	"slices"
)

// sighting is what one source shows of the effects at the end of a run.
type sighting struct {
	name string
	// counts are effects by event id; nil where the source does not count.
	counts map[string]int
	// parts are different effects by event id, where the source can tell them apart.
	parts map[string]int
	// order are ids as they took effect, nil where unknown.
	order  []string
	values map[string]string
}

// observe asks every source. A source that fails is a problem, never "no effects".
func (s *scene) observe() (all []sighting) {
	if e := s.world.effects; e.used {
		all = append(all, e.sighting())
	}
	if h := s.world.http; h.used {
		all = append(all, h.sighting())
	}
	for _, o := range s.config.observers {
		var seen sighting
		err := guarded(o.name, func() (err error) {
			seen, err = o.look(s.observer())
			return err
		})
		if err != nil {
			s.problem(problem{kind: blind, event: -1, text: err.Error()})
			continue
		}
		seen.name = o.name
		all = append(all, seen)
	}
	return all
}

// observer is an Env of nobody: its operations are no part of the schedule.
func (s *scene) observer() Env {
	return s.newProcess("observer", 0).env()
}

// sighting is what the store in memory shows.
func (s *effectStore) sighting() sighting {
	return sighting{name: "effects", counts: s.counts(), values: s.values, order: s.applied}
}

// seesDisguise tells whether the second event of the twin's redelivery left a trace.
func (o *outcome) seesDisguise(c *config) bool {
	id := c.made[c.disguised(0)].ID
	for _, s := range o.seen {
		if s.counts == nil || s.counts[id] > 0 {
			return true
		}
	}
	return false
}

// Counts counts effects, by event id, where the handler makes them. It is called when a
// scenario has come to rest. An error fails the test: it is never "no effects".
func Counts(count func(Env) (map[string]int, error)) Option {
	return observe("counts", func(e Env) (sighting, error) {
		counts, err := count(e)
		return sighting{counts: counts}, err
	})
}

// State tells what the handler has made of all events together, by names. It must be the
// same at the end as without any fault.
func State(state func(Env) (map[string]string, error)) Option {
	return observe("state", func(e Env) (sighting, error) {
		values, err := state(e)
		return sighting{values: values}, err
	})
}

// Setup is called once for each scenario before the first handler is made: to create
// tables, for instance.
func Setup(setup func(Env) error) Option {
	return func(c *config) { c.setup = setup }
}

func observe(name string, look func(Env) (sighting, error)) Option {
	return func(c *config) { c.observers = append(c.observers, source{name, look}) }
}

// source is a way to see effects that the test brings.
type source struct {
	name string
	look func(Env) (sighting, error)
}

func sortedKeys(all ...map[string]string) []string {
	names := map[string]bool{}
	for _, m := range all {
		for key := range m {
			names[key] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}
