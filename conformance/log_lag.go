// SPDX-License-Identifier: Apache-2.0

package conformance

import "math"

// lags tells, for every poll that went well and every key it was assigned, how long at
// least the position had been out of date when the poll began: [time, process, key, lag].
// A position is out of date from the first moment at which anybody proved that a later
// offset exists. The worst is the first of the largest.
func lags(rows []row) (all []any, worst any) {
	expired := expiries(rows)
	begun := map[string]int64{}                // when each process began what it does
	positions := map[string]map[string]int64{} // by process and key
	worst, most := []any{}, int64(-1)
	all = []any{}
	for _, r := range rows {
		process, at := word(r.at(1)), int64(r.number(0))
		switch {
		case r.text(2) == "invoke":
			begun[process] = at
			continue
		case r.text(2) != "ok":
			continue
		}
		switch r.text(3) {
		case "assign":
			positions[process] = reassigned(positions[process], r.list(4))
		case "subscribe":
			positions[process] = nil
		case "poll", "txn":
			positions[process] = advanced(positions[process], r.list(4))
			for _, key := range sortedNames(positions[process]) {
				lag := expired.lag(key, positions[process][key], begun[process])
				one := []any{begun[process], r.at(1), key, lag}
				all = append(all, one)
				if lag > most {
					worst, most = one, lag
				}
			}
		}
	}
	return all, worst
}

// expiry is, by key, when each position was first known to be out of date; a position is
// the next offset to read.
type expiry map[string][]int64

// never is when a position expires that is still the last.
const never = math.MaxInt64

func expiries(rows []row) expiry {
	e := expiry{}
	for _, r := range rows {
		for key, highest := range highestOffsets(r.list(4)) {
			times := e[key]
			for int64(len(times)) <= highest {
				times = append(times, never)
			}
			for i := highest; i >= 0 && times[i] == never; i-- {
				times[i] = int64(r.number(0))
			}
			e[key] = times
		}
	}
	return e
}

func (e expiry) lag(key string, position, now int64) int64 {
	if times := e[key]; position >= 0 && position < int64(len(times)) && times[position] != never {
		return max(0, now-times[position])
	}
	return 0
}

// maxOffset bounds offsets that are counted one by one.
const maxOffset = 1 << 22

// highestOffsets are those that an operation proves to exist.
func highestOffsets(micro row) map[string]int64 {
	highest := map[string]int64{}
	note := func(key string, off any) {
		if n, told := off.(float64); told && n < maxOffset {
			before, seen := highest[key]
			if !seen || int64(n) > before {
				highest[key] = int64(n)
			}
		}
	}
	for i := range micro {
		m := micro.list(i)
		if pair := m.list(2); m.text(0) == "send" && pair != nil {
			note(word(m.at(1)), pair.at(0))
		}
		read, _ := m.at(1).(map[string]any)
		for key, pairs := range read {
			list, _ := pairs.([]any)
			for j := range list {
				note(key, row(list).list(j).at(0))
			}
		}
	}
	return highest
}

// reassigned keeps the positions of keys that stay; new ones begin at the start.
func reassigned(before map[string]int64, keys row) map[string]int64 {
	now := map[string]int64{}
	for i := range keys {
		key := word(keys.at(i))
		now[key] = before[key]
	}
	return now
}

func advanced(before map[string]int64, micro row) map[string]int64 {
	now := map[string]int64{}
	for key, position := range before {
		now[key] = position
	}
	for key, off := range highestOffsets(micro) {
		now[key] = max(now[key], off+1)
	}
	return now
}
