// SPDX-License-Identifier: Apache-2.0

package consumertest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// story is what a failed test prints: what is wrong, its name, what mends it, the
// shortest way there, and the line that goes it again.
func (f *finding) story(test string) string {
	var b strings.Builder
	v := f.small.worst()
	fmt.Fprintf(&b, "%s\n\n", v.text)
	fmt.Fprintf(&b, "  pattern  %s\n", f.cause.name)
	fmt.Fprintf(&b, "%s\n", wrapped("           ", f.cause.why))
	fmt.Fprintf(&b, "%s\n", wrapped("  mend it  ", f.cause.fix))
	if lines := f.small.timeline(); len(lines) > 0 && v.symptom.hasStory() {
		fmt.Fprintf(&b, "\n  the shortest story on %s%s:\n%s", f.trial.rules.short, f.shrunkFrom(), strings.Join(lines, ""))
	}
	if f.seed > 0 {
		fmt.Fprintf(&b, "\n  again:  %s\n%s", f.command(test), f.caution())
	}
	return b.String()
}

// again is what a later family prints of a mistake that an earlier one has told.
func (f *finding) again(test, where string) string {
	return fmt.Sprintf("%s\n\n  pattern  %s, as in %s\n  again:  %s\n", f.small.worst().text, f.cause.name, where, f.command(test))
}

// caution: only virtual time gives the same schedule each time.
func (f *finding) caution() string {
	if !f.trial.config.pace.real {
		return ""
	}
	return "          in real time the same seed may go another way\n"
}

// command goes the same way once more.
func (f *finding) command(test string) string {
	return fmt.Sprintf("go test -run '%s' -consumertest.seed=%d", pathPattern(test), f.seed)
}

func (f *finding) shrunkFrom() string {
	if f.tried == 0 {
		return ""
	}
	return fmt.Sprintf(" (seed %d, from %s and %s in %d tries)", f.seed,
		plural(f.first.events, "event"), plural(len(f.first.acts), "fault"), f.tried)
}

// timeline writes the lines that concern the event of the finding, and all faults.
func (o *outcome) timeline() (lines []string) {
	about := o.worst().event
	calls := o.callsWith(about)
	last := time.Duration(-1)
	for _, e := range o.trace {
		if !e.concerns(about) && !calls[e.call] {
			continue
		}
		mark := "  "
		if e.fault {
			mark = "! "
		}
		at := stamp(e.at)
		if e.at.Truncate(time.Second) == last {
			at = ""
		}
		last = e.at.Truncate(time.Second)
		lines = append(lines, fmt.Sprintf("    %8s  %-9s %s%s\n", at, e.who, mark, e.what))
	}
	return elided(lines)
}

// callsWith are the calls that an event was in. Those of a batch concern other events too.
func (o *outcome) callsWith(event int) map[int]bool {
	calls := map[int]bool{}
	for _, e := range o.trace {
		if e.call > 0 && e.event == event {
			calls[e.call] = true
		}
	}
	return calls
}

// concerns tells whether a line belongs to the story of an event: its own, all faults, and
// which other events were done meanwhile.
func (e *entry) concerns(event int) bool {
	return event < 0 || e.event < 0 || e.event == event || e.fault || e.kind&opSettle != 0
}

const mostLines = 40

// elided leaves out the middle of a long story.
func elided(lines []string) []string {
	if len(lines) <= mostLines {
		return lines
	}
	head, tail := lines[:mostLines-10], lines[len(lines)-10:]
	left := len(lines) - len(head) - len(tail)
	return slices.Concat(head, []string{fmt.Sprintf("    %8s  (%d lines left out)\n", "", left)}, tail)
}

// stamp is an instant of a story, in whole seconds.
func stamp(at time.Duration) string { return brief(at.Truncate(time.Second)) }

// pathPattern is the -run pattern of one subtest, for a shell that quotes it.
func pathPattern(test string) string {
	parts := strings.Split(test, "/")
	for i, part := range parts {
		parts[i] = "^" + strings.ReplaceAll(regexp.QuoteMeta(part), "'", ".") + "$"
	}
	return strings.Join(parts, "/")
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

const width = 96

// wrapped breaks a text into lines; the first begins with a label, the others are indented as far.
func wrapped(label, text string) string {
	var lines []string
	line, indent := label, strings.Repeat(" ", len(label))
	for word := range strings.FieldsSeq(text) {
		if len(line)+len(word) > width && line != indent {
			lines = append(lines, strings.TrimRight(line, " "))
			line = indent
		}
		line += word + " "
	}
	return strings.Join(append(lines, strings.TrimRight(line, " ")), "\n")
}
