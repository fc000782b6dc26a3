// SPDX-License-Identifier: Apache-2.0

package conformance

// judgeConsumer is the kind "consumer-session": what members of a Kafka group did, by the
// rules of the event handlers in Kafka's system tests (eager assignment). Rows are [member,
// "assigned", [partitions]], [member, "revoked", [partitions]], [member, "consumed",
// partition, first, last], [member, "committed", partition, offset(, "error")] and [member,
// "shutdown"]. The source stops at the first rule that is broken.
func judgeConsumer(c *Case, rules Rules) (Figures, error) {
	rows, err := c.rows()
	if err != nil {
		return nil, err
	}
	g := groupState{members: map[string]*member{}, position: map[string]float64{}, committed: map[string]float64{}}
	var first any
	for _, r := range rows {
		if name := g.row(r); name != "" && rules.has("consumer-session:"+name) {
			first = name
			break
		}
	}
	return Figures{"first": first, "valid": first == nil, "consumed": g.consumed, "total_consumed": g.consumed, "warnings": g.holes,
		"position": byPartition(g.position), "committed": byPartition(g.committed)}, nil
}

// consumerRules are the names of what can be broken.
var consumerRules = []string{"consumed-while-not-joined", "consumed-unassigned", "unexpected-offset", "behind-committed",
	"committed-unassigned", "committed-without-position", "committed-ahead"}

// groupState is what is known of a group, over all its members.
type groupState struct {
	members             map[string]*member
	position, committed map[string]float64 // by partition
	consumed            float64
	holes               int // a new owner began elsewhere than the last one stopped: only a warning
}

// member is one consumer; its assignment outlives a revocation, its positions do not.
type member struct {
	joined   bool
	assigned map[string]bool
	position map[string]float64
}

func (g *groupState) member(name string) *member {
	if g.members[name] == nil {
		g.members[name] = &member{assigned: map[string]bool{}, position: map[string]float64{}}
	}
	return g.members[name]
}

// row tells which rule a row breaks, "" for none.
func (g *groupState) row(r row) string {
	m := g.member(word(r.at(0)))
	switch r.text(1) {
	case "assigned":
		m.joined, m.assigned = true, map[string]bool{}
		for _, p := range r.list(2) {
			m.assigned[word(p)] = true
		}
	case "revoked":
		m.joined, m.position = false, map[string]float64{}
	case "shutdown", "killed", "closed":
		*m = member{assigned: map[string]bool{}, position: map[string]float64{}}
	case "consumed":
		return g.consume(m, word(r.at(2)), r.number(3), r.number(4))
	case "committed":
		if r.at(4) == nil {
			return g.commit(m, word(r.at(2)), r.number(3))
		}
	}
	return ""
}

func (g *groupState) consume(m *member, partition string, first, last float64) string {
	position, known := m.position[partition]
	switch {
	case !m.joined:
		return "consumed-while-not-joined"
	case !m.assigned[partition]:
		return "consumed-unassigned"
	case known && position != first:
		return "unexpected-offset"
	}
	m.position[partition] = last + 1
	g.consumed += last - first + 1
	if committed, some := g.committed[partition]; some && committed > first {
		return "behind-committed"
	}
	if before, some := g.position[partition]; some && before != first {
		g.holes++
	}
	g.position[partition] = last + 1
	return ""
}

func (g *groupState) commit(m *member, partition string, offset float64) string {
	position, known := m.position[partition]
	switch {
	case !m.assigned[partition]:
		return "committed-unassigned"
	case !known:
		return "committed-without-position"
	case position < offset, g.position[partition] < offset:
		return "committed-ahead"
	}
	g.committed[partition] = offset
	return ""
}

// byPartition are offsets by partition; of a single one its offset alone will do.
func byPartition(offsets map[string]float64) either {
	ways := either{offsets}
	if len(offsets) == 1 {
		for _, offset := range offsets {
			ways = append(ways, offset)
		}
	}
	return ways
}
