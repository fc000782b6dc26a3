// SPDX-License-Identifier: Apache-2.0

package reports

import (
	"fmt"
	"strings"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/contract"
)

// runView is everything the page shows of one run.
type runView struct {
	*checkers.Result
	// Anchor is unique on the page; the sections of the run begin with it.
	Anchor string
	// Single: there is no suite to go back to.
	Single bool

	State   state
	On      string // the engine in words
	Meta    []pair
	Second  string // the tally under the sentence
	Figures []figureView

	ClaimRows, ExpectRows []claimView
	ClaimTally, MetTally  string

	Sheets   []sheetView
	Balanced bool

	Time       timelineView
	TimeLead   string
	FaultViews []faultView
	// FaultCards of the first are open, and FaultMore of the others folded.
	FaultCards, FaultMore []faultView
	FaultLead             string

	Gens      generationsView
	Latencies percentilesView
	Found     anomaliesView
	FoundLead string
	Foretold  *predictionView // nil where it was not asked for
	LifeViews []lifeView
	Work      []sharesView
	TrustRows []trustRow
	TrustSum  string

	Setup   []pair
	SetKeys []pair
	LeftOut []pair
}

func newRun(r *checkers.Result, anchor string) runView {
	v := runView{Result: r, Anchor: anchor, State: runState(r), On: engineWords(r), Meta: runMeta(r), Figures: newFigures(r)}
	v.ClaimRows, v.ClaimTally = newClaims(r.Claims, r.AsExpected), tally(r.Claims)
	v.ExpectRows, v.MetTally = newClaims(r.Expectations, false), tally(r.Expectations)
	v.Second = v.secondLine()
	v.Sheets, v.Balanced = newLedger(r)
	v.Time, v.TimeLead = newTimeline(r), timeLead(r)
	v.FaultViews, v.FaultLead = newFaults(r), faultLead(r)
	open := min(len(v.FaultViews), openCards)
	v.FaultCards, v.FaultMore = v.FaultViews[:open], v.FaultViews[open:]
	v.Gens = newGenerations(r)
	v.Latencies = newPercentiles(r)
	v.Found, v.FoundLead = newAnomalies(r), foundLead(r)
	v.LifeViews, v.Work = newLives(r), newShares(r)
	v.TrustRows = newTrust(r)
	v.TrustSum = trustSum(v.TrustRows)
	v.Foretold = newPrediction(r)
	v.Setup, v.SetKeys, v.LeftOut = setup(r), settings(r.Settings), settings(r.Profile.LeftOut)
	return v
}

// engineWords names what a run was on: "Kafka 4.1, sarama, in memory".
func engineWords(r *checkers.Result) string {
	p := &r.Profile
	if p.Product == "" {
		return r.Engine
	}
	text := productName(p.Product)
	version := p.Version
	if found := r.Versions[p.Product]; found != "" {
		version = strings.Replace(found, "localstack-", "LocalStack ", 1)
	}
	if version != "" && version != p.Product {
		text += " " + version
	}
	if p.Configuration != "" {
		text += ", " + p.Configuration
	}
	if isModel(r.Engine) {
		text += ", in memory"
	}
	return text
}

func runMeta(r *checkers.Result) []pair {
	meta := []pair{{"engine", r.Engine, true}}
	if r.Variant != "" {
		meta = append([]pair{{"variant", r.Variant, true}}, meta...)
	}
	meta = append(meta, pair{"seed", fmt.Sprint(r.Seed), true})
	if r.Fidelity != "" {
		meta = append(meta, pair{"time", r.Fidelity, true})
	}
	if r.Provider != "" {
		meta = append(meta, pair{"broker by", r.Provider, true})
	}
	if r.Profile.Nodes == 1 {
		meta = append(meta, pair{"", "one node", false})
	}
	if !r.Started.IsZero() {
		meta = append(meta, pair{"", r.Started.UTC().Format("2006-01-02 15:04:05 UTC"), false})
	}
	return meta
}

func (v *runView) secondLine() string {
	text := "Claims: " + v.ClaimTally + "."
	if len(v.Expectations) > 0 {
		text += " Expectations: " + v.MetTally + "."
	}
	return text + fmt.Sprintf(" Exit code %d.", checkers.ExitCode(*v.Result))
}

// timeLead is the sentence over the timeline.
func timeLead(r *checkers.Result) string {
	last := int64(0)
	for _, p := range r.Phases {
		last = max(last, p.EndNs)
	}
	text := "The run took " + Duration(last) + "."
	if peak := r.Counts["lag.messages.max"]; peak > 0 {
		text = fmt.Sprintf("The run took %s; at most %s were ready at once.", Duration(last), plural64(peak, "message", "messages"))
	}
	return text
}

func faultLead(r *checkers.Result) string {
	if len(r.Faults) == 0 {
		return "No fault was planned."
	}
	var said []string
	for i := range r.Faults {
		f := &r.Faults[i]
		switch {
		case i == 3:
			return strings.Join(said, " ") + " " + plural(len(r.Faults)-3, "more fault", "more faults") + " below."
		case f.ActiveNs < 0:
			said = append(said, faultName(f)+" was never active.")
		case f.RecoveredNs < 0:
			said = append(said, faultName(f)+" did not recover within the run.")
		default:
			said = append(said, fmt.Sprintf("%s had recovered after %s.", faultName(f), Duration(f.RecoveredNs-f.ActiveNs)))
		}
	}
	return strings.Join(said, " ")
}

func foundLead(r *checkers.Result) string {
	if len(r.Anomalies) == 0 {
		return "Nothing was found: every class was looked for."
	}
	broken := 0
	for i := range r.Anomalies {
		if r.Anomalies[i].Kind == checkers.KindError {
			broken++
		}
	}
	text := plural(len(r.Anomalies), "class was", "classes were") + " found"
	if broken == 0 {
		return text + ", none of them against the contract of this run."
	}
	return text + ", " + plural(broken, "of them breaks", "of them break") + " the contract of this run."
}

// setup is what it ran on.
func setup(r *checkers.Result) []pair {
	p := &r.Profile
	rows := []pair{{"Profile", p.Name, false}, {"Client", p.Client, false}, {"Model", modelWords(p.Model), false}, {"Nodes", nodeWords(p.Nodes), false}}
	for _, name := range sortedKeys(r.Versions) {
		rows = append(rows, pair{"Version of " + name, r.Versions[name], false})
	}
	rows = append(rows, pair{"Time", orDash(r.Fidelity), false}, pair{"Seed", fmt.Sprint(r.Seed), false}, pair{"Host", orDash(r.Host), false})
	if r.Dir != "" {
		rows = append(rows, pair{"History", r.Dir + "/", false})
	}
	var kept []pair
	for _, row := range rows {
		if row.Value != "" && !(row.Label == "Nodes" && p.Nodes == 0) {
			kept = append(kept, row)
		}
	}
	return kept
}

func modelWords(m contract.Model) string {
	if m == contract.NoModel {
		return ""
	}
	return words(m.String())
}

func settings(all map[string]string) []pair {
	var rows []pair
	for _, k := range sortedKeys(all) {
		rows = append(rows, pair{k, orDash(all[k]), false})
	}
	return rows
}
