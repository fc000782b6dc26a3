// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-720a3c77/harness/checkers"
	"github.com/seed-720a3c77/harness/contract"
	"github.com/seed-720a3c77/harness/inmem"
	"github.com/seed-720a3c77/harness/inmem/drive"
	"github.com/seed-720a3c77/harness/msg"
)

//go:embed planted/*.yaml planted/*.txn
var scenes embed.FS

// Planted is a defect that is known to be there, and what must be found of it.
type Planted struct {
	// Bug is planted in the reference engine; without a name it is an honest broker, and
	// what the workload itself does must be found.
	Bug inmem.Bug
	// Scene is the workload, or one of transactions (txn-), Profile the broker that it runs on.
	Scene, Profile string
	// AnswerLost loses the first answer to the publish of p0/1 on its way.
	AnswerLost bool
	// Finds is what is found and is not without the bug: "lost-undelivered p0/1;
	// order-key p0/3", in order. The row that names the bug comes first in Rows.
	Finds string
	// Breaks are the claims that it breaks, in order.
	Breaks string
}

// Name of the row in the table.
func (p *Planted) Name() string { return fmt.Sprintf("%s on %s, %s", p.Defect(), p.Profile, p.Scene) }

// Defect is the name of the bug, "honest" for none.
func (p *Planted) Defect() string { return cmp.Or(string(p.Bug.Name), "honest") }

// judgement is what a run was found to be.
type judgement struct {
	findings []string // "row id", or "row" where it is about no message
	errors   []string // those that the contract forbids
	broken   []string // claims
}

// Check runs the row with the bug and without it. The error tells what is not as it
// should be.
func (p *Planted) Check(rules Rules) error {
	clean, err := p.judge(rules, nil)
	if err != nil {
		return err
	}
	if p.Bug.Name == "" {
		return p.compare(clean, judgement{})
	}
	if len(clean.errors) > 0 || len(clean.broken) > 0 {
		return fmt.Errorf("%s: without the bug: found %q, broken %q", p.Name(), clean.errors, clean.broken)
	}
	with, err := p.judge(rules, []inmem.Bug{p.Bug})
	if err != nil {
		return err
	}
	return p.compare(with, clean)
}

// compare wants what was found beside the findings of the clean run.
func (p *Planted) compare(with, clean judgement) error {
	if got := gather(beside(with.findings, clean.findings)); got != p.Finds {
		return fmt.Errorf("%s: found %q, want %q", p.Name(), got, p.Finds)
	}
	if got := strings.Join(with.broken, " "); got != p.Breaks {
		return fmt.Errorf("%s: broken %q, want %q", p.Name(), got, p.Breaks)
	}
	return nil
}

func (p *Planted) judge(rules Rules, bugs []inmem.Bug) (judgement, error) {
	if strings.HasPrefix(p.Scene, "txn-") {
		return p.judgeTransactions(rules, bugs)
	}
	source, err := scenes.ReadFile("planted/" + p.Scene + ".yaml")
	if err != nil {
		return judgement{}, fmt.Errorf("%s: %w", p.Name(), err)
	}
	opts := drive.Options{Bugs: bugs}
	if p.AnswerLost {
		opts.Wire = loseFirstAnswer(msg.ID{Seq: 1})
	}
	run, err := play(string(source), p.Profile, opts)
	if err != nil {
		return judgement{}, err
	}
	result, err := rules.check(run)
	if err != nil {
		return judgement{}, err
	}
	return judgementOf(&result), nil
}

func (p *Planted) judgeTransactions(rules Rules, bugs []inmem.Bug) (judgement, error) {
	source, err := scenes.ReadFile("planted/" + p.Scene + ".txn")
	if err != nil {
		return judgement{}, fmt.Errorf("%s: %w", p.Name(), err)
	}
	run, scene, err := playTransactions(p.Scene, string(source), p.Profile, drive.Options{Bugs: bugs})
	if err != nil {
		return judgement{}, err
	}
	return scene.judgement(run, rules)
}

// loseFirstAnswer loses the answer to the first attempt of one message.
func loseFirstAnswer(id msg.ID) func(drive.Attempt) drive.Fate {
	lost := false
	return func(a drive.Attempt) drive.Fate {
		if a.ID != id || lost {
			return drive.Arrives
		}
		lost = true
		return drive.AnswerLost
	}
}

func judgementOf(r *checkers.Result) (j judgement) {
	for _, a := range r.Anomalies {
		for _, x := range a.Examples {
			text := a.Name
			if x.Subscription != "" {
				text += " " + x.ID.String()
			}
			j.findings = append(j.findings, text)
			if a.Kind == checkers.KindError {
				j.errors = append(j.errors, text)
			}
		}
	}
	for _, c := range r.Claims {
		if c.Verdict == contract.Violated {
			j.broken = append(j.broken, c.Name)
		}
	}
	return j
}

// beside removes from all what is in known, each as often as it is there.
func beside(all, known []string) []string {
	left := slices.Clone(all)
	for _, k := range known {
		if i := slices.Index(left, k); i >= 0 {
			left = slices.Delete(left, i, i+1)
		}
	}
	return left
}

// gather writes findings by row: "order-key p0/1 p0/4; stuck p0/2".
func gather(findings []string) string {
	var rows []string
	ids := map[string]string{}
	for _, f := range findings {
		row, id, _ := strings.Cut(f, " ")
		if !slices.Contains(rows, row) {
			rows = append(rows, row)
		}
		if id != "" {
			ids[row] += " " + id
		}
	}
	slices.Sort(rows)
	for i, row := range rows {
		rows[i] = row + ids[row]
	}
	return strings.Join(rows, "; ")
}
