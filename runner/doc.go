// SPDX-License-Identifier: Apache-2.0

// Package runner interprets a workload on an engine and records what happens.
//
//	plan, err := runner.NewPlan(spec, profile, where)   // mapped to the profile, or not applicable
//	err = runner.Run(ctx, runner.Config{Plan: plan, Engine: engine, Clock: clk, Recording: recording})
//
// The plan is made before anything starts: intent is mapped to what the profile can do,
// durations are fitted, and what cannot be shown is a NotApplicable error with the
// reason. Run then goes through the phases load, drain and audit, with the timeline's
// faults among them. It never judges: the verdict is what the checkers say of the file.
//
// Nothing here blocks except through the clock. Engines, stores and fault targets are
// handed in, never imported.
package runner
