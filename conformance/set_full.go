// SPDX-License-Identifier: Apache-2.0

package conformance

// judgeSetFull is the kind "set-full": adds, and reads of all that is there at their time.
// An element is known once its add or a read of it was completed. It is lost if the read
// that began last without it began after that and after every read with it, stable if the
// last read that began had it, never read otherwise: what overlaps with its add proves
// nothing. Times are rows.
func judgeSetFull(c *Case, rules Rules) (Figures, error) {
	rows, err := c.rows()
	if err != nil {
		return nil, err
	}
	s := setHistory{elements: map[string]*element{}, begun: map[string]int{}}
	for i, r := range rows {
		s.row(i, r)
	}
	return s.figures(rules), nil
}

// none stands for a row that did not come.
const none = -1

// element is what is known of one: rows of when it was known, and of when the last reads
// with it and without it began.
type element struct{ known, present, absent int }

type setHistory struct {
	elements map[string]*element
	names    []string
	begun    map[string]int // the read that each process began
	repeated []any
}

func (s *setHistory) row(i int, r row) {
	process, f := word(r.at(0)), r.text(2)
	switch {
	case f == "add" && r.text(1) == "invoke":
		if s.elements[word(r.at(3))] == nil {
			s.elements[word(r.at(3))] = &element{none, none, none}
			s.names = append(s.names, word(r.at(3)))
		}
	case f == "add" && r.text(1) == "ok":
		if e := s.elements[word(r.at(3))]; e != nil && e.known == none {
			e.known = i
		}
	case f == "read" && r.text(1) == "invoke":
		s.begun[process] = i
	case f == "read" && r.text(1) == "ok":
		s.read(i, s.begun[process], r.list(3))
	}
}

func (s *setHistory) read(at, began int, values row) {
	count := map[string]int{}
	for _, value := range values {
		if count[word(value)]++; count[word(value)] == 2 {
			s.repeated = append(s.repeated, value)
		}
	}
	for _, name := range s.names {
		e := s.elements[name]
		if count[name] == 0 {
			e.absent = max(e.absent, began)
			continue
		}
		if e.known == none {
			e.known = at
		}
		e.present = max(e.present, began)
	}
}

// outcome of an element and how many rows it took from known to it.
func (e *element) outcome() (string, int) {
	switch {
	case e.present != none && e.absent < e.present:
		if e.absent == none {
			return "stable", 0
		}
		return "stable", max(0, e.absent-e.known)
	case e.known != none && e.absent != none && e.present < e.absent && e.known < e.absent:
		if e.present == none {
			return "lost", 0
		}
		return "lost", max(0, e.present-e.known)
	}
	return "never-read", 0
}

func (s *setHistory) figures(rules Rules) Figures {
	elements := map[string]any{}
	by := map[string][]any{"stable": {}, "lost": {}, "never-read": {}}
	stale := []any{}
	for _, name := range s.names {
		outcome, latency := s.elements[name].outcome()
		if outcome == "lost" && !rules.has("set-full:lost") {
			outcome = "never-read"
		}
		one := map[string]any{"outcome": outcome}
		if outcome != "never-read" {
			one["latency"] = latency
		}
		elements[name] = one
		by[outcome] = append(by[outcome], name)
		if outcome == "stable" && latency > 0 {
			stale = append(stale, name)
		}
	}
	f := Figures{"elements": elements, "lost": by["lost"], "never-read": by["never-read"], "stale": stale, "duplicated": s.repeated,
		"lost-count": len(by["lost"]), "stable-count": len(by["stable"]), "never-read-count": len(by["never-read"]), "attempt-count": len(s.names)}
	var valid any = true
	switch {
	case len(by["lost"]) > 0, len(s.repeated) > 0 && rules.has("set-full:repeated"):
		valid = false
	case len(by["stable"]) == 0:
		valid = "unknown"
	}
	f["valid"] = valid
	return f
}
