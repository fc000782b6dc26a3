// SPDX-License-Identifier: Apache-2.0

// Package foreign makes runs from what other tools recorded, so that `harness check`
// judges them with the same rules as runs of its own.
//
//	kafka-verifiable    Kafka's VerifiableProducer and VerifiableConsumer, JSON lines
//	redpanda-chaos      workload.log of redpanda's chaos tests, tabs
//	openmessaging       history files of openmessaging-chaos, tabs
//	jepsen              history.edn of the kafka and queue workloads
//	jsonl               JSON Lines of this project
//
// An importer maps outcomes with care: what is not certainly refused is unknown, and what
// a tool did not record (when a send began, who read a record) is not made up. Foreign ids
// become (producer, sequence); times count from the first that is recorded. Whatever was
// left out or had to be assumed is a note of the run.
//
// Input is not trusted: lines are bounded, and so are the ids that are remembered. What a
// tool may write between its lines (logging, a last line that was cut) is passed over and
// counted; anything else that is wrong is an error with its line, and no run is left.
package foreign
