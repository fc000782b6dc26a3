// SPDX-License-Identifier: Apache-2.0

// Package workloads is the declarative workload: one Go struct with the words of the
// YAML, strictly decoded, and the catalogue of embedded ones.
//
// A workload states intent, never a broker's settings: the runner's plan maps a lease to
// a visibility timeout or a consumer timeout, a dead letter to a redrive policy or a
// dead-letter exchange, and what cannot be mapped is "not applicable" with the reason.
//
// Variants are overlays. An axis (a list) multiplies the workload and is written $axis
// where its value goes; a named overlay (a mapping) is merged into the tree, sequences
// element by element. Names of variants are the chosen values joined by "+".
//
//	variants: {settle: [before-handler, after-handler]}
//	variants: {effect: {plain: {consume: [{effect: plain}]}, upsert: {consume: [{effect: upsert}]}}}
//
// An unknown key, name or unit is an error with the line and the nearest right word.
// See CREATING_WORKLOADS.md for a tour that starts from an empty workload.
package workloads
