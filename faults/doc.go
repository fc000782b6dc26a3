// SPDX-License-Identifier: Apache-2.0

// Package faults is what goes wrong and how it heals, one file each.
//
// A fault declares the small target it needs and nothing else: a Process that can be
// killed or frozen today. Inject returns the heal; the runner keeps it and heals on
// every way out. A fault is active when that was observed, not when a command returned.
//
// A new fault is one file here and one line in internal/catalog; see CREATING_FAULTS.md.
package faults
