// SPDX-License-Identifier: Apache-2.0

package history

import (
	"strconv"
	"sync"
	"unicode/utf8"
)

// interner numbers the texts of each table from 1 in the order in which they are met.
type interner struct {
	mu    sync.RWMutex
	refs  [Tables]map[string]uint32
	texts [Tables][]string
	file  *namesFile // nil in memory
}

func newInterner(file *namesFile) *interner {
	n := &interner{file: file}
	for t := range n.refs {
		n.refs[t] = map[string]uint32{}
		n.texts[t] = []string{""}
	}
	return n
}

// reset forgets every text.
func (n *interner) reset() {
	for t := range n.refs {
		clear(n.refs[t])
		n.texts[t] = append(n.texts[t][:0], "")
	}
}

// intern is one lookup under a read lock for a text that is known.
func (n *interner) intern(table Table, text string) (uint32, error) {
	if text == "" {
		return 0, nil
	}
	n.mu.RLock()
	ref, known := n.refs[table][text]
	n.mu.RUnlock()
	if known {
		return ref, nil
	}
	return n.add(table, text)
}

func (n *interner) add(table Table, text string) (uint32, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if ref, known := n.refs[table][text]; known {
		return ref, nil
	}
	ref := uint32(len(n.texts[table]))
	n.refs[table][text] = ref
	text = readable(text)
	n.texts[table] = append(n.texts[table], text)
	if n.file == nil {
		return ref, nil
	}
	return ref, n.file.write(table, ref, text)
}

func (n *interner) close() error {
	if n.file == nil {
		return nil
	}
	return n.file.close()
}

// readable escapes what is not UTF-8, such as a foreign key: names are shown, and JSON
// cannot hold it.
func readable(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	quoted := strconv.Quote(text)
	return quoted[1 : len(quoted)-1]
}
