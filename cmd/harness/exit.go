// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/contract"
)

// Exit codes. When several apply, a failure of the harness or a broker comes first, then
// violated, then inconclusive: what failed may hide the rest.
const (
	exitPass         = 0   // pass, or as expected
	exitViolated     = 1   // a claim, threshold or expectation is violated
	exitInconclusive = 2   // no verdict
	exitFailed       = 3   // the harness or a broker failed
	exitUsage        = 64  // wrong words
	exitInterrupted  = 130 // stopped from outside; the report is written
)

// exit carries a code. quiet means that everything was said already.
type exit struct {
	code  int
	err   error
	quiet bool
}

func (e *exit) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

// usage marks an error as wrong words; a full disk is nobody's words.
func usage(err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return err
	}
	return &exit{code: exitUsage, err: err}
}

// exitCode is the code of an error; what says nothing of itself failed.
func exitCode(err error) int {
	var e *exit
	switch {
	case err == nil:
		return exitPass
	case errors.As(err, &e):
		return e.code
	}
	return exitFailed
}

func isQuiet(err error) bool {
	var e *exit
	return errors.As(err, &e) && (e.quiet || e.err == nil)
}

// oneLine joins the lines of an error, without those that only repeat the end of another.
// What it repeats of a file's words does not steer the terminal.
func oneLine(err error) string {
	var told []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if !slices.ContainsFunc(told, func(other string) bool { return strings.HasSuffix(other, line) }) {
			told = append(told, line)
		}
	}
	text := strings.Join(told, "; ")
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// judged is the exit of results: worst first.
func judged(results *checkers.Results) error {
	code := exitPass
	for i := range results.Runs {
		r := &results.Runs[i]
		switch c := checkers.ExitCode(*r); {
		case c == exitViolated:
			code = exitViolated
		case c != exitPass && code == exitPass:
			code = c
		}
	}
	for _, n := range results.NotRun {
		if n.Verdict == contract.Inconclusive && code == exitPass {
			code = exitInconclusive
		}
	}
	if code == exitPass {
		return nil
	}
	return &exit{code: code, quiet: true}
}
