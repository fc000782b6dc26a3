// SPDX-License-Identifier: Apache-2.0

package history

import (
	"fmt"
	"strings"
)

// Integrity says what of a record is missing or doubtful. What is missing is unknown,
// never lost.
type Integrity struct {
	// Events is how many there are to read.
	Events int64
	// Findings are the files that are not whole; there are none of a run that was closed
	// and is undamaged.
	Findings []Finding
}

// Finding is one file that is not whole.
type Finding struct {
	File, Task string
	// NotClosed: it has no footer. Its process died, or the run is still going.
	NotClosed bool
	// Torn is how many bytes at the end are no whole frame.
	Torn int64
	// Damaged is how many stretches before that are no whole frame.
	Damaged int
	// Recovered is how many events were taken from the block that was open.
	Recovered int
	// Missing is how many events are gone at most; they may never have been there.
	Missing int64
	// Altered: it is whole, but not what it was when the run was closed.
	Altered bool
	// Gone: it was there when the run was closed.
	Gone bool
	// Unnamed is how many names are gone; a stand-in like "?17" takes the place of each.
	Unnamed int
}

// String is one line: what is wrong with the file, and what that costs.
func (f Finding) String() string {
	var parts []string
	add := func(n int64, format string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf(format, n))
		}
	}
	for _, is := range []struct {
		so   bool
		text string
	}{{f.NotClosed, "not closed"}, {f.Altered, "not as it was when the run was closed"}, {f.Gone, "gone"}} {
		if is.so {
			parts = append(parts, is.text)
		}
	}
	add(f.Torn, "%d bytes torn off")
	add(int64(f.Damaged), "%d parts damaged")
	add(int64(f.Recovered), "%d events recovered from its open block")
	add(f.Missing, "at most %d events missing")
	add(int64(f.Unnamed), "%d names missing")
	return f.File + ": " + strings.Join(parts, ", ")
}

// Complete tells whether everything that was recorded can be read. A process that was
// killed leaves its segment not closed, and yet complete.
func (i *Integrity) Complete() bool {
	for _, f := range i.Findings {
		if !f.complete() {
			return false
		}
	}
	return true
}

func (f *Finding) complete() bool { return f.Missing == 0 && f.Unnamed == 0 }

// Missing is how many events are gone at most.
func (i *Integrity) Missing() int64 {
	var n int64
	for _, f := range i.Findings {
		n += f.Missing
	}
	return n
}

func (i *Integrity) note(f Finding) {
	if f.NotClosed || f.Torn > 0 || f.Damaged > 0 || f.Missing > 0 || f.Unnamed > 0 {
		i.Findings = append(i.Findings, f)
	}
}
