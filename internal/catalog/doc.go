// SPDX-License-Identifier: Apache-2.0

// Package catalog is the one visible list of what the harness has: engines, providers
// and faults. Workloads, checkers and report formats list themselves in their packages.
// Nothing registers itself: a new entry is one file of its own and one line here.
package catalog
