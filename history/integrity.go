// SPDX-License-Identifier: Apache-2.0

package history

// Integrity says what of a record is missing or doubtful. What is missing is unknown,
// never lost.
type Integrity struct {
	// Events is how many there are to read.
	Events int64
	// Findings are the segments that are not whole, in order; none of a run that was
	// closed and is undamaged.
	Findings []Finding
}

// Finding is one segment that is not whole.
type Finding struct {
	File, Task string
	// NotClosed: the segment has no footer, its process died or the run is still going.
	NotClosed bool
	// Torn is how many bytes at the end are no whole frame.
	Torn int64
	// Damaged is how many frames have a wrong checksum or content.
	Damaged int
	// Recovered is how many events were taken from the block that was open.
	Recovered int
	// Missing is how many events are gone at most; they may never have been there.
	Missing int64
}

// Complete tells whether nothing is missing: every event that was recorded can be read.
// A process that was killed leaves its segment not closed, and yet complete.
func (i *Integrity) Complete() bool { return i.Missing() == 0 }

// Missing is how many events are gone at most.
func (i *Integrity) Missing() int64 {
	var n int64
	for _, f := range i.Findings {
		n += f.Missing
	}
	return n
}
