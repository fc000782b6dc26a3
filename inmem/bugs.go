// SPDX-License-Identifier: Apache-2.0

package inmem

import (
	"fmt"
	"slices"

	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/msg"
)

// Bug plants a defect, so that a checker can be seen to find it. The engine stays
// deterministic.
type Bug struct {
	// Name is one of Bugs.
	Name BugName
	// Every lets it strike at every n-th occasion; 0 is at each.
	Every int
	// IDs, if any, are the only messages at which it strikes.
	IDs []msg.ID
	// Limit is how often it strikes; 0 is without end.
	Limit int
}

// BugName names a defect.
type BugName string

// BugInfo describes a defect that can be planted.
type BugInfo struct {
	Name  BugName
	About string
	// Models are the shapes of broker that can have it.
	Models []contract.Model
}

// The defects that can be planted; Bugs describes them.
const (
	LoseAcked       BugName = "lose-acked"
	StoreTwice      BugName = "store-twice"
	StoreRefused    BugName = "store-refused"
	FromNowhere     BugName = "from-nowhere"
	CorruptBody     BugName = "corrupt-body"
	WrongReceipt    BugName = "wrong-receipt"
	RetryStored     BugName = "retry-stored"
	SkipRecord      BugName = "skip-record"
	RereadRecord    BugName = "reread-record"
	SwapRecords     BugName = "swap-records"
	LeaveGap        BugName = "leave-gap"
	HoleAtTakeover  BugName = "hole-at-takeover"
	BehindCommitted BugName = "behind-committed"
	CommitBack      BugName = "commit-back"
	CommitAhead     BugName = "commit-ahead"
	CommitIgnored   BugName = "commit-ignored"
	ZombieCommit    BugName = "zombie-commit"
	DoubleOwner     BugName = "double-owner"
	ReadAborted     BugName = "read-aborted"
	DirtyRead       BugName = "dirty-read"
	LosePart        BugName = "lose-part"
	PositionsAlone  BugName = "positions-alone"
	ZombieProducer  BugName = "zombie-producer"
	MissBinding     BugName = "miss-binding"

	LoseDelivered       BugName = "lose-delivered"
	DeliverTwice        BugName = "deliver-twice"
	DuplicateAfterAck   BugName = "duplicate-after-ack"
	AckIgnored          BugName = "ack-ignored"
	AckUndone           BugName = "ack-undone"
	UnflaggedRedelivery BugName = "unflagged-redelivery"
	WrongCount          BugName = "wrong-count"
	SwapReady           BugName = "swap-ready"
	Stuck               BugName = "stuck"
	GhostInFlight       BugName = "ghost-in-flight"
	DeadLetterEarly     BugName = "dead-letter-early"
	DeadLetterLate      BugName = "dead-letter-late"
	DeadLetterTwice     BugName = "dead-letter-twice"
	DeadLetterLost      BugName = "dead-letter-lost"
	DeadLetterDone      BugName = "dead-letter-done"
	TwoActive           BugName = "two-active"
	DeliverExpired      BugName = "deliver-expired"

	EarlyRedelivery BugName = "early-redelivery"
	ExtendIgnored   BugName = "extend-ignored"
	StaleAccepted   BugName = "stale-accepted"
	GroupNotBlocked BugName = "group-not-blocked"
	DedupForgotten  BugName = "dedup-forgotten"
	DedupSwallows   BugName = "dedup-swallows"
)

var (
	everyModel = []contract.Model{contract.Log, contract.LeaseQueue, contract.PushQueue}
	onLogs     = []contract.Model{contract.Log}
	onQueues   = []contract.Model{contract.LeaseQueue, contract.PushQueue}
	onLeases   = []contract.Model{contract.LeaseQueue}
	onPushes   = []contract.Model{contract.PushQueue}
)

// Bugs lists every defect that can be planted.
func Bugs() []BugInfo {
	return []BugInfo{
		{LoseAcked, "a publish is answered with success and not stored", everyModel},
		{StoreTwice, "a publish is stored twice", everyModel},
		{StoreRefused, "a publish is answered with a refusal and stored", everyModel},
		{FromNowhere, "a message that nobody sent is stored behind another", everyModel},
		{CorruptBody, "a bit of a stored body is flipped", everyModel},
		{WrongReceipt, "the answer to a publish names the position of the one before", onLogs},
		{RetryStored, "an idempotent producer's second attempt is stored again", onLogs},
		{SkipRecord, "a poll passes over a record", onLogs},
		{RereadRecord, "a poll hands out a record again", onLogs},
		{SwapRecords, "a poll hands out two neighbours in the wrong order", onLogs},
		{LeaveGap, "a record is stored one place too far on, and the next producer's goes before it", onLogs},
		{HoleAtTakeover, "a new owner starts one record behind the committed position", onLogs},
		{BehindCommitted, "a new owner starts one record before the committed position", onLogs},
		{CommitBack, "a commit puts the group's position one lower than it was", onLogs},
		{CommitAhead, "a commit puts the group's position one further than asked", onLogs},
		{CommitIgnored, "a commit is answered with success and changes nothing", onLogs},
		{ZombieCommit, "a commit of a former member or generation is accepted", onLogs},
		{DoubleOwner, "a rebalance leaves a partition with its former owner too", onLogs},
		{ReadAborted, "a record of an aborted transaction is handed out to who reads what is committed", onLogs},
		{DirtyRead, "a record of an open transaction is handed out to who reads what is committed", onLogs},
		{LosePart, "a record of a committed transaction is not there", onLogs},
		{PositionsAlone, "a commit moves the positions of the groups, and drops the records", onLogs},
		{ZombieProducer, "a record of a fenced producer is taken into the transaction of the newer one", onLogs},
		{MissBinding, "an exchange does not route a message to one of its queues", onPushes},
		{LoseDelivered, "an unsettled message is dropped when its lease ends or its channel dies", onQueues},
		{DeliverTwice, "a message that was handed out stays ready and goes to somebody else too", onQueues},
		{DuplicateAfterAck, "an acked message is ready again", onQueues},
		{AckIgnored, "an ack is accepted and changes nothing: the message comes back when its hold ends", onQueues},
		{AckUndone, "an ack makes room for the next message, and is undone when its channel ends", onPushes},
		{UnflaggedRedelivery, "a redelivery carries the count and flag of the delivery before", onQueues},
		{WrongCount, "a delivery carries a count one too high, and the redelivered flag", onQueues},
		{SwapReady, "two neighbours of a queue or group are handed out in the wrong order", onQueues},
		{Stuck, "a message whose hold ended is never handed out again", onQueues},
		{GhostInFlight, "an acked message goes on being counted as in flight", onQueues},
		{DeadLetterEarly, "a message is dead-lettered one delivery too early", onQueues},
		{DeadLetterLate, "a message is delivered once more than its limit", onQueues},
		{DeadLetterTwice, "a dead letter is stored twice", onQueues},
		{DeadLetterLost, "a message is dropped on its way to the dead-letter queue", onQueues},
		{DeadLetterDone, "an acked message is stored in the dead-letter queue too", onQueues},
		{TwoActive, "a queue with a single active consumer pushes to the next one too", onPushes},
		{DeliverExpired, "a message whose time to live is over stays and is handed out", onQueues},
		{EarlyRedelivery, "a lease ends after half its time", onLeases},
		{ExtendIgnored, "an extension is answered with success and changes nothing", onLeases},
		{StaleAccepted, "a stale receipt handle deletes where the profile says that it does not", onLeases},
		{GroupNotBlocked, "a group goes on while one of its messages is in flight", onLeases},
		{DedupForgotten, "a second send inside the deduplication window is stored", onLeases},
		{DedupSwallows, "a first send is swallowed as if it were a second", onLeases},
	}
}

// planted holds the bugs of a machine.
type planted struct{ sites map[BugName]*site }

type site struct {
	bug    Bug
	seen   int
	struck int
}

func plant(bugs []Bug, model contract.Model) (*planted, error) {
	if len(bugs) == 0 {
		return nil, nil
	}
	p := &planted{sites: map[BugName]*site{}}
	for _, b := range bugs {
		i := slices.IndexFunc(Bugs(), func(known BugInfo) bool { return known.Name == b.Name })
		if i < 0 {
			return nil, fmt.Errorf("unknown bug %q", b.Name)
		}
		if models := Bugs()[i].Models; !slices.Contains(models, model) {
			return nil, fmt.Errorf("bug %q needs one of %v, not a %v", b.Name, models, model)
		}
		p.sites[b.Name] = &site{bug: b}
	}
	return p, nil
}

// strikes tells whether a bug strikes at this occasion.
func (m *Machine) strikes(name BugName, id msg.ID) bool {
	if m.bugs == nil {
		return false
	}
	s := m.bugs.sites[name]
	return s != nil && s.strikes(id)
}

func (s *site) strikes(id msg.ID) bool {
	if s.bug.Limit > 0 && s.struck == s.bug.Limit {
		return false
	}
	if len(s.bug.IDs) > 0 && !slices.Contains(s.bug.IDs, id) {
		return false
	}
	s.seen++
	if s.bug.Every > 0 && s.seen%s.bug.Every != 0 {
		return false
	}
	s.struck++
	return true
}
