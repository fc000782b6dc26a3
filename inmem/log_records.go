// SPDX-License-Identifier: Apache-2.0

package inmem

// chunkSize is the number of records that are packed, and given back, together.
const chunkSize = 256

// records holds the offsets from start up to, without, end. The newest chunks lie open,
// older ones are packed to a tenth; what is read of those is kept open for a while.
type records struct {
	chunks     []chunk
	start, end int64
	cache      [cacheSize]cached
	evict      int
}

type page [chunkSize]payload

// chunk is chunkSize records, open or packed.
type chunk struct {
	open   *page
	packed packed
}

const (
	// openChunks are never packed: readers at the end of the log are there.
	openChunks = 2
	// cacheSize is more than the readers of a partition that are behind, as a rule.
	cacheSize = 8
)

// cached is a packed chunk that was read.
type cached struct {
	number int64 // of the chunk, from the first offset of the log; plus one
	page   *page
}

func (r *records) append(record payload) int64 {
	offset := r.end
	if int(offset) == len(r.chunks)*chunkSize {
		r.grow()
	}
	last := &r.chunks[len(r.chunks)-1]
	last.open[offset%chunkSize] = record
	r.end++
	return offset
}

// grow opens a chunk, in the memory of the one that is packed for it.
func (r *records) grow() {
	open := r.reuse()
	if open == nil {
		open = new(page)
	}
	r.chunks = append(r.chunks, chunk{open: open})
}

// reuse packs the oldest open chunk and returns its memory, nil if too few are open.
func (r *records) reuse() *page {
	i := len(r.chunks) - openChunks
	if i < 0 || r.chunks[i].open == nil {
		return nil
	}
	old := &r.chunks[i]
	open := old.open
	old.packed, old.open = pack(open), nil
	*open = page{}
	return open
}

// at is the record of an offset that is held, valid until the next call of any method.
func (r *records) at(offset int64) *payload {
	c := &r.chunks[offset/chunkSize]
	if c.open == nil {
		return &r.unpacked(offset/chunkSize, c)[offset%chunkSize]
	}
	return &c.open[offset%chunkSize]
}

func (r *records) unpacked(number int64, c *chunk) *page {
	for i := range r.cache {
		if r.cache[i].number == number+1 {
			return r.cache[i].page
		}
	}
	slot := &r.cache[r.evict]
	r.evict = (r.evict + 1) % cacheSize
	if slot.page == nil {
		slot.page = new(page)
	}
	slot.number = number + 1
	c.packed.unpack(slot.page)
	return slot.page
}

// truncate takes what is below an offset away from who fetches, as retention does. What a
// client has in its buffer is still there.
func (r *records) truncate(below int64) {
	r.start = max(r.start, min(below, r.end))
}
