// SPDX-License-Identifier: Apache-2.0

package history

// latest holds the latest value of each number (a producer, a place), exactly, for as
// many as there are rows in a block. Its table is open addressing with a stamp, so that
// it is emptied without being cleared.
type latest struct {
	stamp uint32
	slots [2 * maxRows]latestSlot
}

type latestSlot struct {
	value int64
	key   uint32
	stamp uint32
}

// reset empties the table.
func (l *latest) reset() {
	l.stamp++
	if l.stamp == 0 {
		*l = latest{stamp: 1}
	}
}

// of returns the value of a key, 0 at first. At most maxRows keys may be asked for.
func (l *latest) of(key uint32) *int64 {
	i := key * 0x9e3779b1 % uint32(len(l.slots))
	for {
		s := &l.slots[i]
		if s.stamp != l.stamp {
			*s = latestSlot{key: key, stamp: l.stamp}
		}
		if s.key == key {
			return &s.value
		}
		i = (i + 1) % uint32(len(l.slots))
	}
}

// differences replaces values by their differences from the latest of the same key.
func (l *latest) differences(values, keys []int64) {
	l.reset()
	for i, v := range values {
		last := l.of(uint32(keys[i]))
		values[i] = v - *last
		*last = v
	}
}

// sums undoes differences.
func (l *latest) sums(values, keys []int64) {
	l.reset()
	for i, d := range values {
		last := l.of(uint32(keys[i]))
		*last += d
		values[i] = *last
	}
}

// differences replaces values by their differences from the one before.
func differences(values []int64) {
	var last int64
	for i, v := range values {
		values[i], last = v-last, v
	}
}
