// SPDX-License-Identifier: Apache-2.0

package inmem

import "strconv"

// text2 is an id of two numbers behind a letter.
func (m *Machine) text2(letter string, a, b uint64) string {
	var buffer [48]byte
	text := append(buffer[:0], letter...)
	text = strconv.AppendUint(text, a, 10)
	text = append(text, '-')
	return m.texts.add(strconv.AppendUint(text, b, 10))
}

// text3 is a handle of three numbers; parse3 reads it.
func (m *Machine) text3(a, b, c uint64) string {
	var buffer [64]byte
	text := strconv.AppendUint(buffer[:0], a, 10)
	text = append(text, '.')
	text = strconv.AppendUint(text, b, 10)
	text = append(text, '.')
	return m.texts.add(strconv.AppendUint(text, c, 10))
}

func parse3(text string) (a, b, c uint64, ok bool) {
	n := [3]uint64{}
	part, digits := 0, 0
	for i := range len(text) {
		switch d := text[i]; {
		case d == '.' && part < 2 && digits > 0:
			part, digits = part+1, 0
		case d >= '0' && d <= '9' && digits < 19:
			n[part] = 10*n[part] + uint64(d-'0')
			digits++
		default:
			return 0, 0, 0, false
		}
	}
	return n[0], n[1], n[2], part == 2 && digits > 0
}
