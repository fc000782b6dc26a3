// SPDX-License-Identifier: Apache-2.0

package consumertest

// pattern is a mistake that has a name.
type pattern struct {
	name string
	// why tells what goes wrong, fix what mends it.
	why, fix string
}

func noDeduplication() pattern {
	return pattern{
		name: "no deduplication",
		why:  "A plain redelivery is enough: nothing in the handler knows that the event was done.",
		fix:  "Store the event's id together with the effect, in one transaction, and skip an id that is there; or write the effect under the id (upsert), so that a second write changes nothing.",
	}
}

func checkThenAct() pattern {
	return pattern{
		name: "check-then-act",
		why:  "Two workers had the event at the same time; each looked whether it was done before the other had said so.",
		fix:  "Make looking and storing one atomic step before the work (insert if absent, a unique constraint), or put key and effect into one transaction that fails on the second key.",
	}
}

func claimBeforeWork() pattern {
	return pattern{
		name: "claim before work",
		why:  "The key was stored before the effect. When the work did not come to its end, the next delivery took the key for done.",
		fix:  "Put key and effect into one transaction. Where that cannot be, claim under a lease, mark as done after the work, and return an error while another claim stands.",
	}
}

func workBeforeClaim() pattern {
	return pattern{
		name: "work before claim",
		why:  "The effect was applied, and the key that says so was not: the next delivery did the work again.",
		fix:  "Put effect and key into one transaction, or give the effect an id of its own that its store refuses the second time (upsert, idempotency key).",
	}
}

func keyExpires() pattern {
	return pattern{
		name: "key expires before the last redelivery",
		why:  "The handler knew the event once and had forgotten it when it came back.",
		fix:  "Keep keys longer than the broker can redeliver: retention of the log or queue, plus what is in dead letters and may be sent again.",
	}
}

func brokerIDAsKey() pattern {
	return pattern{
		name: "broker id as key",
		why:  "With the first delivery's broker id the copy was recognised, with its own it was not: message ids, offsets and delivery tags are new when a producer sends again or a broker requeues.",
		fix:  "Use an id that the producer gives the event once and that every copy carries, in the body or a header.",
	}
}

func trustsFlag() pattern {
	return pattern{
		name: "trusts the redelivered flag",
		why:  "The copy was recognised when it was flagged as redelivered, and not without: a producer's second copy has no flag, and some brokers have none at all.",
		fix:  "Take the flag as a hint that saves a lookup, never as the answer. Recognise events by their own id.",
	}
}

func processMemory() pattern {
	return pattern{
		name: "deduplication in process memory",
		why:  "The event was recognised by the process that had done it, and not by the one after the restart.",
		fix:  "Keep the keys where they survive the process, best in the store of the effect.",
	}
}

func claimTooShort() pattern {
	return pattern{
		name: "claim outlived by the work",
		why:  "The claim ended while its holder still worked; a second worker claimed the event, and both applied the effect.",
		fix:  "Let the effect's own transaction check that the claim still holds (a fencing token), or put key and effect into one transaction. A longer lease only makes it rarer.",
	}
}

func slowerThanLease() pattern {
	return pattern{
		name: "slower than the lease",
		why:  "A call takes longer than the broker lets a worker hold a message, so the message came again while it was worked on. Nothing else had to go wrong.",
		fix:  "Extend the lease while the work goes on, or set it longer than the longest call; and put effect and key into one transaction, for the day on which that is not enough.",
	}
}

func lostUpdate() pattern {
	return pattern{
		name: "lost update",
		why:  "A worker read a value, another one changed it, and the first wrote back what it had made of the old one.",
		fix:  "Let the store do it in one step (an increment, an update with a condition on the version that was read), or read and write in one transaction.",
	}
}

func blindRetry() pattern {
	return pattern{
		name: "blind retry",
		why:  "The effect was applied and only its answer was lost; the handler repeated it in the same call.",
		fix:  "A failed answer is unknown, not failed: repeat with an idempotency key, or look first.",
	}
}

func errorSwallowed() pattern {
	return pattern{
		name: "error swallowed",
		why:  "The work failed and the handler returned nil, so the message was settled.",
		fix:  "Return the error (in a batch: at the entry that failed), or put the event where somebody finds it before it is settled.",
	}
}

func wrongEntry() pattern {
	return pattern{
		name: "failure at the wrong entry of the batch",
		why:  "A call failed for one message of its batch, and another one that was not done had nil at its entry, so it was settled.",
		fix:  "Give each message its own entry. What was not tried because an earlier one failed needs an error as well.",
	}
}

func poisonedBatch() pattern {
	return pattern{
		name: "poison takes its batch along",
		why:  "One message fails every time and the handler fails its whole batch for it: the others used up their attempts as well.",
		fix:  "Report each message at its own entry, or do a batch that has failed once more, one message at a time.",
	}
}

func redeliveredIsDone() pattern {
	return pattern{
		name: "redelivered is taken for done",
		why:  "The message was dropped because it was flagged as redelivered or counted too often: what came before had ended before the work was done.",
		fix:  "Ask the store whether the event is done, not the broker how often it came. Leave giving up to the broker's dead-letter queue, with its limit.",
	}
}

func claimNeverEnds() pattern {
	return pattern{
		name: "claim never ends",
		why:  "Who had claimed the event never came to the end of the work, and its claim stayed: every later delivery failed on it until the attempts were used up.",
		fix:  "Put key and effect into one transaction; or give a claim a lease, and let the effect's transaction check that the claim still holds.",
	}
}

func busySettled() pattern {
	return pattern{
		name: "claimed is taken for done",
		why:  "An event that was claimed and not done was settled: who had claimed it never came to the end of the work.",
		fix:  "A claim is not done: return an error while another claim stands, and settle only what is marked as done.",
	}
}

func settledBeforeWork() pattern {
	return pattern{
		name: "settled before the work was done",
		why:  "The handler returned while the work went on elsewhere (a goroutine, a buffer); the settle was sent and the process died with it.",
		fix:  "Return when the effect is stored. To work on several events at once take a batch and wait for all of it.",
	}
}

func highWaterMark() pattern {
	return pattern{
		name: "high-water mark",
		why:  "A later event was done first; the earlier one then came again and was taken for old.",
		fix:  "Remember ids, not the highest one, wherever the order is not promised: after a redelivery it is not.",
	}
}

func staleWrite() pattern {
	return pattern{
		name: "stale write wins",
		why:  "An older event was delivered again and overwrote what a newer one had written.",
		fix:  "Store the event's version or time with the value, and refuse a write that is older.",
	}
}

func overtaken() pattern {
	return pattern{
		name: "order lost",
		why:  "An event took effect after a later one of its key.",
		fix:  "Ask for the order only of a broker that keeps it (a partition, a message group), settle in order, or refuse an event that comes too late.",
	}
}

func handlerPanics() pattern {
	return pattern{
		name: "the handler panics",
		why:  "A panic ends the process with everything it holds, and the message comes back to end the next one.",
		fix:  "Return an error for what cannot be handled; recover at the edge if a library may panic.",
	}
}

func handlerHangs() pattern {
	return pattern{
		name: "the handler does not return",
		why:  "A call that never ends holds its message, and on a log everything behind it.",
		fix:  "Give every wait an end, and stop when the context does.",
	}
}

func leftBehind() pattern {
	return pattern{
		name: "goroutines left behind",
		why:  "Something that the handler started still ran when everything was over, such as the pool of a sql.DB that nobody closed.",
		fix:  "Open databases with Env.OpenDB, which closes them; end goroutines with the context, or in a function given to Env.Cleanup.",
	}
}

func cannotSee() pattern {
	return pattern{
		name: "effects cannot be observed",
		why:  "The effects could not be counted, so nothing is known: this is not the same as no effects.",
		fix:  "Mend the query or function that counts them.",
	}
}

func toothlessTest() pattern {
	return pattern{
		name: "a test without teeth",
		why:  "The handler was given a second event that it could not know, and no second effect was seen: this test would pass whatever the handler does.",
		fix:  "Count the effects themselves, by event id, where the handler makes them: with Env.Effects, Env.HTTPClient, Counts or CountQuery.",
	}
}

func noEffect() pattern {
	return pattern{
		name: "nothing had an effect",
		why:  "The handler ran without any fault and no effect was seen.",
		fix:  "Apply effects with Env.Effects or Env.HTTPClient, or tell with Counts, CountQuery or State where they are.",
	}
}

func wrongWithoutFaults() pattern {
	return pattern{
		name: "wrong without any fault",
		why:  "This happens with one worker, each event delivered once, and nothing going wrong.",
		fix:  "Mend the handler, or what the test counts, before looking at faults.",
	}
}

func setupFails() pattern {
	return pattern{
		name: "the preparation failed",
		why:  "The function given to Setup returned an error, so no handler ran.",
		fix:  "Mend the preparation.",
	}
}

func harnessFailed() pattern {
	return pattern{
		name: "the test itself failed",
		why:  "This is no finding about the handler.",
		fix:  "Please report it with the text above.",
	}
}

func unnamed() pattern {
	return pattern{
		name: "no known pattern",
		why:  "The story below is what happened.",
		fix:  "Put the effect and the event's id into one transaction, and settle after it.",
	}
}
