// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"cmp"
	"slices"
)

const (
	rangeStrategy      = "range"
	roundRobinStrategy = "roundrobin"
	stickyStrategy     = "sticky"
	cooperativeSticky  = "cooperative-sticky"
)

func knownStrategy(name string) bool {
	return slices.Contains([]string{rangeStrategy, roundRobinStrategy, stickyStrategy, cooperativeSticky}, name)
}

// assign gives every member its partitions of the new generation.
func (g *group) assign() {
	members := slices.SortedFunc(slices.Values(g.members), func(a, b *member) int { return cmp.Compare(a.id, b.id) })
	n := len(g.committed)
	switch g.strategy {
	case roundRobinStrategy:
		assignInTurn(members, n)
	case stickyStrategy:
		assignSticky(members, n)
	case cooperativeSticky:
		assignCooperative(members, n)
	default:
		assignRange(members, n)
	}
}

// assignRange gives each member a run of neighbours, the first ones one more.
func assignRange(members []*member, partitions int) {
	next := int32(0)
	for i, mem := range members {
		mem.owned = nil
		for range share(i, len(members), partitions) {
			mem.owned = append(mem.owned, next)
			next++
		}
	}
}

// share is the number of partitions of the i-th of n members.
func share(i, n, partitions int) int {
	if i < partitions%n {
		return partitions/n + 1
	}
	return partitions / n
}

func assignInTurn(members []*member, partitions int) {
	for _, mem := range members {
		mem.owned = nil
	}
	for p := range partitions {
		mem := members[p%len(members)]
		mem.owned = append(mem.owned, int32(p))
	}
}

// assignSticky moves as few partitions as balance allows.
func assignSticky(members []*member, partitions int) {
	free := make([]bool, partitions)
	for p := range free {
		free[p] = true
	}
	// Who holds most keeps the odd ones.
	byLoad := slices.SortedStableFunc(slices.Values(members), func(a, b *member) int { return len(b.owned) - len(a.owned) })
	for i, mem := range byLoad {
		mem.owned = slices.DeleteFunc(mem.owned, func(p int32) bool { return !free[p] })
		mem.owned = mem.owned[:min(len(mem.owned), share(i, len(members), partitions))]
		for _, p := range mem.owned {
			free[p] = false
		}
	}
	next := 0
	for i, mem := range byLoad {
		for len(mem.owned) < share(i, len(members), partitions) {
			for !free[next] {
				next++
			}
			mem.owned = append(mem.owned, int32(next))
			free[next] = false
		}
		slices.Sort(mem.owned)
	}
}

// assignCooperative is sticky, except that a partition that is still held by another
// member is given only in the next generation, after that member released it.
func assignCooperative(members []*member, partitions int) {
	held := make([]*member, partitions)
	for _, mem := range members {
		mem.owned = mem.holding()
		for _, p := range mem.owned {
			held[p] = mem
		}
	}
	assignSticky(members, partitions)
	for _, mem := range members {
		mem.owned = slices.DeleteFunc(mem.owned, func(p int32) bool { return held[p] != nil && held[p] != mem })
	}
}

// holding is what a cooperative client says it holds.
func (mem *member) holding() (partitions []int32) {
	if mem.client == nil {
		return nil
	}
	for _, cl := range mem.client.claims {
		partitions = append(partitions, cl.p.index)
	}
	return partitions
}
