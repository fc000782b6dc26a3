// SPDX-License-Identifier: Apache-2.0

package history

import "fmt"

// processNames are the tables as one process numbered them.
type processNames struct {
	process string
	closed  bool
	texts   [Tables][]string
}

// maxGap bounds how many names in a row damage may take: more is damage of the number.
const maxGap = 1 << 16

func (p *processNames) read(scan *frameScanner, finding *Finding) {
	for t := range p.texts {
		p.texts[t] = []string{""}
	}
	finding.NotClosed = true
	count := uint64(0)
	for scan.scan() {
		f := fields{rest: scan.payload}
		for f.next() {
			switch f.field {
			case frameNames:
				count += p.names(f.data, finding)
			case frameFooter:
				events := parseFooter(f.data)
				finding.NotClosed = false
				finding.Unnamed = max(finding.Unnamed, int(min(events-min(events, count), maxGap)))
			}
		}
	}
	finding.Torn, finding.Damaged = scan.torn, finding.Damaged+scan.damaged
}

func (p *processNames) names(message []byte, finding *Finding) (count uint64) {
	f := fields{rest: message}
	for f.next() {
		if f.field == 1 && p.name(f.data, finding) {
			count++
		}
	}
	return count
}

func (p *processNames) name(message []byte, finding *Finding) bool {
	var table, number uint64
	var text string
	f := fields{rest: message}
	for f.next() {
		switch f.field {
		case 1:
			table = f.number
		case 2:
			number = f.number
		case 3:
			text = string(f.data)
		}
	}
	if f.bad || table >= uint64(Tables) {
		finding.Damaged++
		return false
	}
	texts := &p.texts[table]
	known := uint64(len(*texts))
	if number < known || number-known > maxGap {
		finding.Damaged++
		return false
	}
	for ; known < number; known++ {
		*texts = append(*texts, fmt.Sprintf("?%d", known))
		finding.Unnamed++
	}
	*texts = append(*texts, text)
	return true
}

// joinNames makes the tables of the run from those of its processes, of which the first
// keeps its numbers, and returns how to rename the others.
func joinNames(names *[Tables][]string, all []processNames) map[string]*references {
	renames := map[string]*references{}
	var joined *interner
	for i := range all {
		p := &all[i]
		if joined == nil {
			joined = newInterner(nil)
		}
		renames[p.process] = joined.join(p, p.process == "")
	}
	if joined == nil {
		joined = newInterner(nil)
	}
	*names = joined.texts
	return renames
}

func (n *interner) join(p *processNames, keeps bool) *references {
	refs := new(references)
	for t, texts := range p.texts {
		if keeps {
			n.texts[t] = texts
			for ref, text := range texts {
				n.refs[t][text] = uint32(ref)
			}
			continue
		}
		refs[t] = make([]uint32, len(texts))
		for ref, text := range texts {
			refs[t][ref], _ = n.intern(Table(t), text)
		}
	}
	if keeps {
		return nil
	}
	return refs
}
