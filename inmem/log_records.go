// SPDX-License-Identifier: Apache-2.0

package inmem

// chunkSize is the number of records that are allocated, and given back, together.
const chunkSize = 256

// records holds the offsets from start up to, without, end.
type records struct {
	chunks     []*[chunkSize]payload
	base       int64 // offset of the first slot of the first chunk
	start, end int64
}

func (r *records) append(record payload) int64 {
	offset := r.end
	if int(offset-r.base) == len(r.chunks)*chunkSize {
		r.chunks = append(r.chunks, new([chunkSize]payload))
	}
	*r.at(offset) = record
	r.end++
	return offset
}

// at is the record of an offset that is held.
func (r *records) at(offset int64) *payload {
	i := offset - r.base
	return &r.chunks[i/chunkSize][i%chunkSize]
}

// truncate forgets what is below an offset, as retention does.
func (r *records) truncate(below int64) {
	r.start = max(r.start, min(below, r.end))
	drop := int(r.start-r.base) / chunkSize
	clear(r.chunks[:drop])
	r.chunks = r.chunks[drop:]
	r.base += int64(drop) * chunkSize
}
