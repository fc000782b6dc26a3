// SPDX-License-Identifier: Apache-2.0

// Package explore runs one workload under many seeds on virtual time and tells what can
// happen: the distribution of every count, the seeds that broke a claim, and which crash
// points were hit at least once, so that "nothing found" means something.
//
// Each seed decides three things: the interleaving (ties and latencies), and where the
// faults of the timeline fall, within bounds that a Space states. A seed that breaks a
// claim is shrunk to the smallest workload that still breaks it, which is an ordinary
// workload file with a seed in it.
package explore
