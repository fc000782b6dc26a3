// SPDX-License-Identifier: Apache-2.0

// Package effects is where the side effects of handlers land, so that they can be
// counted: one effect for each acked message is what "exactly once" means here.
//
// A mode is how a consumer guards itself against a second delivery:
//
//	plain          adds one each time: shows every second run as a second effect
//	upsert         writes under the message's id: a second write changes nothing
//	claim          takes the id before the work, under a lease, and marks it done after
//	transactional  writes effect and id in one transaction, and refuses a known id
//
// The Memory store is in this package; stores on disk are packages of their own. A store
// lives outside the worker, as a database does: a crash of the worker leaves it alone.
package effects
