// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/contract"
)

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string           `xml:"name,attr"`
	Tests      int              `xml:"tests,attr"`
	Failures   int              `xml:"failures,attr"`
	Errors     int              `xml:"errors,attr"`
	Skipped    int              `xml:"skipped,attr"`
	Time       string           `xml:"time,attr,omitempty"`
	Timestamp  string           `xml:"timestamp,attr,omitempty"`
	Properties *junitProperties `xml:"properties,omitempty"`
	Cases      []junitCase      `xml:"testcase"`
}

type junitProperties struct {
	Property []junitProperty `xml:"property"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Failure *junitOutcome `xml:"failure,omitempty"`
	Error   *junitOutcome `xml:"error,omitempty"`
	Skipped *junitOutcome `xml:"skipped,omitempty"`
	Output  string        `xml:"system-out,omitempty"`
}

type junitOutcome struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// JUnit writes one test case for each claim, threshold and expectation: a failure where
// it is violated and that was not expected, an error where there is no verdict, skipped
// where it is not applicable.
func JUnit(w io.Writer, results *checkers.Results) error {
	all := junitSuites{Name: "harness"}
	for i := range results.Runs {
		all.add(junitRun(&results.Runs[i]))
	}
	for i := range results.NotRun {
		all.add(junitNotRun(&results.NotRun[i]))
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return fmt.Errorf("junit: %w", err)
	}
	e := xml.NewEncoder(w)
	e.Indent("", "\t")
	if err := e.Encode(&all); err != nil {
		return fmt.Errorf("junit: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// add counts the cases of a suite.
func (all *junitSuites) add(s junitSuite) {
	for i := range s.Cases {
		s.Tests++
		switch c := &s.Cases[i]; {
		case c.Failure != nil:
			s.Failures++
		case c.Error != nil:
			s.Errors++
		case c.Skipped != nil:
			s.Skipped++
		}
	}
	all.Tests += s.Tests
	all.Failures += s.Failures
	all.Errors += s.Errors
	all.Skipped += s.Skipped
	all.Suites = append(all.Suites, s)
}

func junitRun(r *checkers.Result) junitSuite {
	s := junitSuite{Name: rowName(r.Workload, r.Variant) + " on " + r.Engine, Time: junitTime(r)}
	if !r.Started.IsZero() {
		s.Timestamp = r.Started.UTC().Format(time.RFC3339)
	}
	s.Properties = &junitProperties{[]junitProperty{
		{"profile", r.Profile.Name}, {"seed", strconv.FormatUint(r.Seed, 10)}, {"fidelity", r.Fidelity}, {"command", r.Command}}}
	for i := range r.Claims {
		s.Cases = append(s.Cases, junitClaim(r, "claim ", &r.Claims[i], r.AsExpected))
	}
	for i := range r.Expectations {
		s.Cases = append(s.Cases, junitClaim(r, "expectation ", &r.Expectations[i], false))
	}
	s.Cases = append(s.Cases, junitFindings(r)...)
	if len(s.Cases) == 0 {
		s.Cases = append(s.Cases, junitClaim(r, "", &checkers.ClaimResult{Name: "verdict", Verdict: r.Verdict, Sentence: r.Sentence}, r.AsExpected))
	}
	return s
}

// junitTime is how long the run took, in seconds of its own clock.
func junitTime(r *checkers.Result) string {
	last := int64(0)
	for _, p := range r.Phases {
		last = max(last, p.EndNs)
	}
	return strconv.FormatFloat(float64(last)/1e9, 'f', 3, 64)
}

func junitClaim(r *checkers.Result, kind string, c *checkers.ClaimResult, foreseen bool) junitCase {
	out := junitCase{Class: junitClass(r.Workload, r.Variant, r.Engine), Name: kind + c.Name}
	switch c.Verdict {
	case contract.Pass:
	case contract.NotApplicable:
		out.Skipped = &junitOutcome{Message: c.Sentence}
	case contract.Violated:
		if foreseen {
			out.Output = "violated, as expected: " + c.Sentence
			return out
		}
		out.Failure = &junitOutcome{Message: "measured " + orDash(c.Measured) + ", limit " + orDash(c.Limit), Type: "violated", Text: junitText(r, c)}
	default:
		out.Error = &junitOutcome{Message: c.Sentence, Type: c.Verdict.String(), Text: junitMissing(r)}
	}
	return out
}

func junitClass(workload, variant, engine string) string {
	return strings.TrimSuffix(workload+"."+variant, ".") + "." + engine
}

// junitText is the evidence: the sentence, the ids, and how to look closer.
func junitText(r *checkers.Result, c *checkers.ClaimResult) string {
	lines := []string{c.Sentence}
	if ids := idList(c); ids != "" {
		lines = append(lines, "ids: "+ids, explain(r, c.IDs[0].String()))
	}
	if r.Command != "" {
		lines = append(lines, "again: "+r.Command)
	}
	return strings.Join(lines, "\n")
}

func junitMissing(r *checkers.Result) string {
	var lines []string
	for _, m := range r.Missing {
		lines = append(lines, fmt.Sprintf("%s: found %s; needed %s; %s", m.Check, m.Found, m.Needed, m.Decide))
	}
	return strings.Join(lines, "\n")
}

func junitNotRun(n *checkers.NotRun) junitSuite {
	c := junitCase{Class: junitClass(n.Workload, n.Variant, n.Engine), Name: "run"}
	if n.Verdict == contract.NotApplicable {
		c.Skipped = &junitOutcome{Message: n.Reason}
	} else {
		c.Error = &junitOutcome{Message: n.Reason, Type: n.Verdict.String()}
	}
	return junitSuite{Name: rowName(n.Workload, n.Variant) + " on " + n.Engine, Cases: []junitCase{c}}
}
