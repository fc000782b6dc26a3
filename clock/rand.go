// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"hash/fnv"
	"math/rand/v2"
)

// stream derives the random source of (seed, name). Both words depend on both inputs:
// neighbouring seeds and similar names give unrelated streams.
func stream(seed uint64, name string) *rand.PCG {
	h := fnv.New64a()
	h.Write([]byte(name))
	return rand.NewPCG(scramble(seed^h.Sum64()), scramble(seed+h.Sum64()))
}

// golden is the step of SplitMix64, and scramble its output function (Steele, Lea and
// Flood, "Fast splittable pseudorandom number generators", 2014): a bijection in which
// every bit of x moves about half the bits of the result.
const golden = 0x9e3779b97f4a7c15

func scramble(x uint64) uint64 {
	x += golden
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// ties orders events of one instant: SplitMix64, the cheapest good source, for there is
// one draw to an event.
type ties uint64

func (t *ties) draw() uint64 {
	x := scramble(uint64(*t))
	*t += golden
	return x
}
