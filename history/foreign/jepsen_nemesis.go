// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-720a3c77/harness/history"
)

// nemesis follows the faults of a Jepsen history. Each of its operations is recorded twice,
// before and after, both as :info; some histories have only one of them. A fault lasts from
// the first that begins it to the last that ends it.
type nemesis struct {
	open    []openFault
	faults  uint32
	pending string // an operation that was begun
	twice   bool   // operations are recorded before and after
}

type openFault struct {
	name   string
	number uint32
}

// begins are words that a fault begins with.
var begins = []string{"start", "kill", "partition", "pause", "bump", "strobe", "break", "crash"}

// killed are the faults that a start ends.
var killed = []string{"kill", "crash"}

// endings are words that end a fault, with how those begin.
var endings = []struct {
	word string
	of   []string
}{
	{"stop", []string{"start"}}, {"heal", []string{"partition", "start"}}, {"resume", []string{"pause"}},
	{"restart", killed}, {"recover", killed}, {"reset", []string{"bump", "strobe"}},
}

// strike is one operation of the nemesis. Words that say neither are passed over.
func (j *jepsen) strike(op *jepsenOp) error {
	n := &j.nemesis
	again := n.pending == op.f
	n.twice = n.twice || again
	n.pending = op.f
	if again {
		n.pending = ""
	}
	if i := n.ends(op.f); i >= 0 {
		if n.twice && !again {
			return nil // it ends when it is done
		}
		e := history.Event{Kind: history.FaultHealed, Op: n.open[i].number, Text: j.text(n.open[i].name)}
		n.open = slices.Delete(n.open, i, i+1)
		return j.add("nemesis", op.at, e)
	}
	if again || !startsWith(op.f, begins) || n.isOpen(op.f) {
		return nil
	}
	if n.faults >= maxProducers {
		return fmt.Errorf("more than %d faults", maxProducers)
	}
	n.faults++
	n.open = append(n.open, openFault{op.f, n.faults})
	j.header.Faults = append(j.header.Faults, history.Fault{Name: op.f, Text: op.f})
	return j.add("nemesis", op.at, history.Event{Kind: history.FaultActive, Op: n.faults, Text: j.text(op.f)})
}

// ends is which open fault an operation ends, -1 for none: the one of the same noun, or else
// the latest of its kind, or else the latest. To start what was killed ends that.
func (n *nemesis) ends(f string) int {
	verb, noun, _ := strings.Cut(f, "-")
	if verb == "start" && noun == "" {
		return n.latest(func(o openFault) bool { return startsWith(o.name, killed) })
	}
	for _, e := range endings {
		if !strings.HasPrefix(f, e.word) {
			continue
		}
		if same := n.latest(func(o openFault) bool { return noun != "" && strings.HasSuffix(o.name, noun) }); same >= 0 {
			return same
		}
		if kind := n.latest(func(o openFault) bool { return startsWith(o.name, e.of) }); kind >= 0 {
			return kind
		}
		return len(n.open) - 1
	}
	return -1
}

func (n *nemesis) latest(is func(openFault) bool) int {
	for i := len(n.open) - 1; i >= 0; i-- {
		if is(n.open[i]) {
			return i
		}
	}
	return -1
}

func (n *nemesis) isOpen(name string) bool {
	return slices.ContainsFunc(n.open, func(o openFault) bool { return o.name == name })
}

func startsWith(name string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(name, word) })
}
